package main

import (
	"context"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// environmentKeys are the keys in the environment for all providers that some
// agent talks to.
func environmentKeys(agents *agent.Registry) egress.Keys {
	return egress.EnvironmentKeys(agents.Providers(), os.Getenv)
}

// checkCredentials makes sure that the agent can work before a screen is
// opened for it.
func (w wiring) checkCredentials(ctx context.Context, name string) error {
	adapter, err := w.agents.Named(name)
	if err != nil {
		return fail("open multiplexer", err, "")
	}
	if _, err := usable(ctx, w.keys.Credential, adapter); err != nil {
		return fail("open multiplexer", err, remedyOf(err, "log in")+", or try 'ironcurtain-mux demo', which needs no key")
	}
	return nil
}

// usable is the provider that an agent would use, or why the one it prefers
// cannot be used. An agent that talks to no model needs none.
func usable(ctx context.Context, credential func(context.Context, string) (mitm.Credential, error), a agent.Adapter) (string, error) {
	var lacks error
	for _, provider := range a.Providers {
		_, err := credential(ctx, provider)
		if err == nil {
			return provider, nil
		}
		if lacks == nil {
			lacks = err
		}
	}
	return "", lacks
}
