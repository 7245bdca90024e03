package doctor

import (
	"context"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engine is the container engine. All checks use one connection to it, because ssh could ask the
// person again for a second one.
type engine struct {
	connect func() (*docker.Client, error) // connects at the first call
}

// newEngine returns the engine, not connected yet. Connecting is not bound by the time limit of a
// check, because ssh may ask the person.
func newEngine(ctx context.Context, p wiring.Paths) engine {
	return engine{sync.OnceValues(func() (*docker.Client, error) { return wiring.ConnectEngine(ctx, p) })}
}

// ways returns what is known about reaching the engine's containers, and the connection; or a finding
// why these are not known.
func (e engine) ways(p wiring.Paths) (*reach.Ways, *docker.Client, *finding) {
	c, err := p.Config()
	if err != nil {
		unknown := warn("fix config.json first", "unknown without the configuration")
		return nil, nil, &unknown
	}
	client, err := e.connect()
	if err != nil {
		unknown := warn("see the line 'engine' first", "unknown without the engine")
		return nil, nil, &unknown
	}
	return p.Ways(c), client, nil
}

// close ends the connection, after the checks.
func (e engine) close(ctx context.Context) {
	if client, err := e.connect(); err == nil {
		_ = client.Close(ctx)
	}
}
