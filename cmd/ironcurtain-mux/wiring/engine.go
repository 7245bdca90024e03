package wiring

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// EngineFlagName is the flag with which a person names the container engine.
const EngineFlagName = "engine"

// EngineFlag is the container engine that a person names on the command line. Every command
// that uses one has it.
type EngineFlag struct{ given string }

// Register adds the flag to a command.
func (f *EngineFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.given, EngineFlagName, "", "container engine: the `name` of a docker context, an address such as ssh://host or tcp://127.0.0.1:2375, or a socket (default from config.json, else found)")
}

// In returns the directories with the engine that the flag names.
func (f *EngineFlag) In(p Paths) Paths {
	p.Engine = f.given
	if strings.Contains(f.given, "/") && !strings.Contains(f.given, "://") {
		p.Engine = AbsolutePath(f.given) // the daemon has another working directory
	}
	return p
}

// Demand returns the engine that a daemon must have, or is started with. Without the flag, any engine
// will do.
func (p Paths) Demand() (client.Engine, error) {
	if p.Engine == "" {
		return client.Engine{}, nil
	}
	e, err := p.Endpoint()
	return client.Engine{Name: p.Engine, Address: e.Address}, err
}

// choice returns the engine that the person has named.
func (p Paths) choice(c config.Config) docker.Choice {
	return docker.Choice{Flag: p.Engine, Config: c.Engine.Use, Insecure: c.Engine.Insecure}
}

// Ways returns how the containers of each engine are reached and get files.
func (p Paths) Ways(c config.Config) *reach.Ways {
	return &reach.Ways{Wanted: reach.Way(c.Engine.Way), WantedFiles: reach.Files(c.Engine.Files), Path: filepath.Join(p.Home, "engines.json")}
}

// Endpoint finds the address of the container engine, without connecting to it.
func (p Paths) Endpoint() (docker.Endpoint, error) {
	c, err := config.Load(p.ConfigFile())
	if err != nil {
		return docker.Endpoint{}, cli.Fail("read configuration", err, "")
	}
	return p.choice(c).Resolve(os.Getenv, p.UserHome)
}

// ConnectEngine connects a command to the container engine. On its terminal, ssh may ask the
// person.
func ConnectEngine(ctx context.Context, p Paths) (*docker.Client, error) {
	e, err := p.Endpoint()
	if err != nil {
		return nil, err
	}
	e.Ask = true
	return docker.Connect(ctx, e)
}

// Introduce connects to an engine over ssh once, so that ssh can ask on this terminal about the
// machine's key and for the passphrase of the person's key. Afterwards a daemon, which has no
// terminal, can reach the engine. Introduce ignores errors, because the daemon reports them.
func (p Paths) Introduce(ctx context.Context) {
	if e, err := p.Endpoint(); err == nil && e.OverSSH() {
		e.Ask = true
		_ = docker.Probe(ctx, e)
	}
}
