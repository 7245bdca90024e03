package broker

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engineHandle connects to the container engine when it is first needed and
// again after a failure, so that a multiplexer may be open before the engine is.
type engineHandle struct {
	choice docker.Choice

	mu         sync.Mutex
	client     *docker.Client
	connecting chan struct{} // closed when the attempt to connect ends; nil when there is none
}

// get returns the engine's client. One caller connects at a time. The others wait, each
// until its own ctx ends at most; when the attempt fails, one of them tries next.
func (h *engineHandle) get(ctx context.Context, userHome string) (*docker.Client, error) {
	for {
		h.mu.Lock()
		client, busy := h.client, h.connecting
		if client == nil && busy == nil {
			h.connecting = make(chan struct{})
			h.mu.Unlock()
			return h.connect(ctx, userHome)
		}
		h.mu.Unlock()
		if client != nil {
			return client, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to Docker: %w", ctx.Err())
		}
	}
}

// connect connects for the caller of get that set h.connecting.
func (h *engineHandle) connect(ctx context.Context, userHome string) (client *docker.Client, err error) {
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.client = client
		close(h.connecting)
		h.connecting = nil
	}()
	return h.choice.Connect(ctx, os.Getenv, userHome)
}

// check says whether there is an engine to connect to. It does not wait for the answer of an engine
// on this machine. It connects to an engine elsewhere, and keeps the connection.
func (h *engineHandle) check(ctx context.Context, userHome string) error {
	endpoint, err := h.choice.Resolve(os.Getenv, userHome)
	if err != nil {
		return err
	}
	if endpoint.Local() {
		return docker.Probe(ctx, endpoint)
	}
	if client := h.connected(); client != nil {
		return client.Ping(ctx)
	}
	_, err = h.get(ctx, userHome)
	return err
}

// endpoint returns the address of the engine that is connected or will be.
func (h *engineHandle) endpoint(userHome string) (docker.Endpoint, error) {
	if client := h.connected(); client != nil {
		return client.Endpoint(), nil
	}
	return h.choice.Resolve(os.Getenv, userHome)
}

// connected returns the engine's client, or nil while there is no connection yet.
func (h *engineHandle) connected() *docker.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client
}

func (h *engineHandle) close(ctx context.Context) error {
	client := h.connected()
	if client == nil {
		return nil
	}
	return client.Close(ctx)
}
