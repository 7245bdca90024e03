package main

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// connectEngine connects to the container engine of this machine.
func connectEngine(ctx context.Context, p paths) (*docker.Client, error) {
	endpoint, err := docker.ResolveEndpoint(os.Getenv, p.userHome)
	if err != nil {
		return nil, err
	}
	return docker.Connect(ctx, endpoint)
}
