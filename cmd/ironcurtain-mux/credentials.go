package main

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
)

// environmentKeys are the keys in the environment for all providers that some
// agent talks to.
func environmentKeys() egress.Keys {
	var providers []string
	for _, a := range agent.All() {
		providers = append(providers, a.Providers...)
	}
	return egress.EnvironmentKeys(providers, os.Getenv)
}

// checkCredentials makes sure that the agent can work before a screen is
// opened for it.
func (w wiring) checkCredentials(ctx context.Context, name string) error {
	adapter, err := agent.Named(name)
	if err != nil {
		return fail("open multiplexer", err, "")
	}
	for _, provider := range adapter.Providers {
		if _, err := w.keys.Credential(ctx, provider); err != nil {
			return fail("open multiplexer", err, remedyOf(err, "log in")+", or try 'ironcurtain-mux demo', which needs no key")
		}
	}
	return nil
}
