package wiring

import (
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// DaemonVariables names the variables of this environment that only the configuration asks for:
// those with keys of model providers, those that hold secrets by config.json or by the
// file of --servers, and those that tools need to name package registries. An unusable configuration asks for nothing; the daemon says what is wrong.
func (p Paths) DaemonVariables(serversFile string) []string {
	c, err := p.Config()
	if err != nil {
		return nil
	}
	agents, err := AgentsOf(c)
	if err != nil {
		return nil
	}
	table, err := TableOf(c)
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

// KeysHere returns the API keys of model providers in this environment. There are none with a
// configuration that cannot be used: the daemon says so, or goes on with the one that it has.
func (p Paths) KeysHere() map[string]string {
	c, err := p.Config()
	if err != nil {
		return nil
	}
	agents, err := AgentsOf(c)
	if err != nil {
		return nil
	}
	table, err := TableOf(c)
	if err != nil {
		return nil
	}
	return egress.EnvironmentKeys(table, agents.Providers(), os.Getenv)
}
