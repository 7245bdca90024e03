package wiring

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// ConnectEngine connects to the container engine of this machine.
func ConnectEngine(ctx context.Context, p Paths) (*docker.Client, error) {
	endpoint, err := docker.ResolveEndpoint(os.Getenv, p.UserHome)
	if err != nil {
		return nil, err
	}
	return docker.Connect(ctx, endpoint)
}
