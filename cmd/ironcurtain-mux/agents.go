package main

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

// agentsOf are the agents there are with that configuration.
func agentsOf(config.Config) (*agent.Registry, error) {
	return agent.NewRegistry()
}

// agents are the agents there are with the configuration at that place, or the
// built-in ones when it cannot be used.
func (p place) agents() *agent.Registry {
	if c, err := p.config(); err == nil {
		if all, err := agentsOf(c); err == nil {
			return all
		}
	}
	return agent.Builtin()
}
