package doctor

import (
	"context"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// engine is the container engine, which all checks of it ask over one connection: a second one
// could have ssh ask the person again.
type engine struct {
	connect func() (*docker.Client, error) // connects when it is called first
}

// newEngine makes one. How long connecting may take does not depend on a check: a person may be
// asked meanwhile.
func newEngine(ctx context.Context, p wiring.Paths) engine {
	return engine{sync.OnceValues(func() (*docker.Client, error) { return wiring.ConnectEngine(ctx, p) })}
}

// ways returns what is known of working with the engine, and the connection, or why that cannot be said.
func (e engine) ways(p wiring.Paths) (*reach.Ways, *docker.Client, *finding) {
	c, err := p.Config()
	if err != nil {
		unknown := warn("fix config.json first", "unknown without the configuration")
		return nil, nil, &unknown
	}
	client, err := e.connect()
	if err != nil {
		unknown := warn("see to the line 'engine' first", "unknown without the engine")
		return nil, nil, &unknown
	}
	return p.Ways(c), client, nil
}

// close ends the connection, after the checks, which begin nothing that it could wait for.
func (e engine) close(ctx context.Context) {
	if client, err := e.connect(); err == nil {
		_ = client.Close(ctx)
	}
}
