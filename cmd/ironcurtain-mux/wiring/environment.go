package wiring

import (
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// DaemonVariables returns the names of the environment variables that the daemon needs because of
// the configuration: those with keys of model providers, those that contain secrets according to
// config.json or the file of --servers, and those by which tools find package registries. It returns
// none for an invalid configuration, whose error the daemon reports.
func (p Paths) DaemonVariables(serversFile string) []string {
	c, agents, table, err := p.tables()
	if err != nil {
		return nil
	}
	own, err := OwnServers(c, p.ConfigFile(), serversFile, agents)
	if err != nil {
		return nil
	}
	names := variablesOf(c, table, own)
	if c.Registries.Enabled {
		names = append(names, p.Tools().Variables()...)
	}
	return names
}

func variablesOf(c config.Config, table []mitm.Provider, own map[string]servers.Config) []string {
	names := egress.KeyVariables(table)
	for _, k := range c.AgentAPIKeys {
		names = append(names, k.Env)
	}
	if c.GH != nil {
		names = append(names, c.GH.Token.Env)
	}
	for _, s := range own {
		for _, secret := range s.Credentials {
			names = append(names, secret.Env)
		}
	}
	return names
}

// KeysHere returns the API keys of model providers in this environment. It returns none for an
// invalid configuration: the daemon reports the error, or keeps its present configuration.
func (p Paths) KeysHere() map[string]string {
	_, agents, table, err := p.tables()
	if err != nil {
		return nil
	}
	return egress.EnvironmentKeys(table, agents.Providers(), os.Getenv)
}

// tables returns the configuration with its agents and model providers.
func (p Paths) tables() (c config.Config, agents *agent.Registry, table []mitm.Provider, err error) {
	if c, err = p.Config(); err == nil {
		agents, err = AgentsOf(c)
	}
	if err == nil {
		table, err = TableOf(c)
	}
	return c, agents, table, err
}
