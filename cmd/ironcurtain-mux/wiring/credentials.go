package wiring

import (
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/oauth"
)

// keyring holds the credentials that the person lets the program use.
type keyring interface {
	broker.Credentials
	Check(provider string) error // whether there is a credential, without renewing any
	Secrets() []string           // values that must not be recorded
}

// ProvidersOf returns the table of model providers, with those of the configuration.
func ProvidersOf(c config.Config) ([]mitm.Provider, error) {
	return mitm.ExtendProviders(mitm.Providers(), c.Providers)
}

// TableOf is ProvidersOf, with GitHub's API added if the configuration has it.
func TableOf(c config.Config) ([]mitm.Provider, error) {
	table, err := ProvidersOf(c)
	if err != nil || c.GH == nil {
		return table, err
	}
	return mitm.WithGitHub(table, c.GH.Host)
}

// Credentials returns the person's keys and logins for all providers of the agents.
func Credentials(table []mitm.Provider, agents *agent.Registry, p Paths, moved Upstreams) *egress.Credentials {
	return egress.NewCredentials(agents.Providers(), egress.Options{
		Environment: oauth.Host(p.UserHome, os.Getenv),
		Journal:     p.Home,
		Table:       table,
		Upstreams:   moved.Hosts,
		UpstreamCAs: moved.Roots,
	})
}

// checkCredentials returns an error if the agent lacks a credential. task says that the person has
// called start.
func (w Parts) checkCredentials(name string, task bool) error {
	adapter, err := w.Agents.Named(name)
	if err != nil {
		return cli.Fail("open multiplexer", err, "")
	}
	if _, given := w.Config.AgentAPIKeys[adapter.Name]; given {
		return nil // the key is read when the session starts
	}
	if err := Lacking(w.Keys, adapter); err != nil {
		try := "ironcurtain-mux demo"
		if task {
			try = "ironcurtain-mux start --demo"
		}
		return cli.Fail("open multiplexer", err, cli.RemedyOf(err, "log in")+", or try '"+try+"', which needs no key")
	}
	return nil
}

// Lacking returns why an agent's preferred provider cannot be used, or nil when one of its
// providers can be used or the agent needs none.
func Lacking(keys keyring, a agent.Adapter) error {
	check := keys.Check
	if a.KeysOnly {
		check = keys.APIKeys().Check
	}
	var first error
	for _, provider := range a.Providers {
		err := check(provider)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}
