package main

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// connectEngine connects to the container engine of this machine with the images of
// config.json.
func connectEngine(ctx context.Context, p paths) (*docker.Client, error) {
	endpoint, err := docker.ResolveEndpoint(os.Getenv, p.userHome)
	if err != nil {
		return nil, err
	}
	client, err := docker.Connect(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	if c, err := p.config(); err == nil {
		client.UseBase(c.Images.Base)
	}
	return client, nil
}
