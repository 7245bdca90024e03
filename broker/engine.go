package broker

import (
	"context"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engineHandle connects to the container engine when it is first needed and
// again after a failure, so that a multiplexer may be open before the engine is.
type engineHandle struct {
	base   string // what agents' images are built on; empty for what their makers chose
	mu     sync.Mutex
	client *docker.Client
}

func (h *engineHandle) get(ctx context.Context, userHome string) (*docker.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		return h.client, nil
	}
	endpoint, err := docker.ResolveEndpoint(os.Getenv, userHome)
	if err != nil {
		return nil, err
	}
	client, err := docker.Connect(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	client.UseBase(h.base)
	h.client = client
	return client, nil
}

// check says whether there is an engine to connect to, without waiting for its
// answer.
func (h *engineHandle) check(ctx context.Context, userHome string) error {
	endpoint, err := docker.ResolveEndpoint(os.Getenv, userHome)
	if err != nil {
		return err
	}
	return docker.Probe(ctx, endpoint)
}

// known is the engine's client, or nil while nobody has needed one or somebody is
// just connecting.
func (h *engineHandle) known() *docker.Client {
	if !h.mu.TryLock() {
		return nil
	}
	defer h.mu.Unlock()
	return h.client
}

func (h *engineHandle) close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client == nil {
		return nil
	}
	return h.client.Close(ctx)
}
