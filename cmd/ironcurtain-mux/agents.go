package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

// agentsOf returns the agents of that configuration: the built-in ones and the person's
// own.
func agentsOf(c config.Config) (*agent.Registry, error) {
	const op, next = "read agents", "mend config.json"
	var own []agent.Adapter
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a, err := customAgent(name, c.Agents[name]).Adapter()
		if err != nil {
			return nil, fail(op, err, next)
		}
		own = append(own, a)
	}
	all, err := agent.NewRegistry(own...)
	if err != nil {
		return nil, fail(op, err, next)
	}
	if _, err := all.Named(c.Agent); err != nil {
		return nil, fail(op, fmt.Errorf("agent: %w", err), remedyOf(err, next))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if _, err := all.Named(name); err != nil {
			return nil, fail(op, fmt.Errorf("models: %w", err), remedyOf(err, next))
		}
	}
	return all, nil
}

// customAgent turns an agent of the configuration into one of package agent.
func customAgent(name string, a config.Agent) agent.Custom {
	return agent.Custom{
		Name: name, Title: a.Title, Image: a.Image,
		Command: a.Command, Resume: a.Resume, Task: a.Task, Version: a.Version,
		Env: a.Env, Files: a.Files, Providers: a.Providers, Tools: a.Tools,
		Paste: a.Submit.Paste, Pause: time.Duration(a.Submit.PauseMillis) * time.Millisecond,
	}
}

// agents returns the agents of the configuration in those directories, or the built-in
// ones when it cannot be used.
func (p paths) agents() *agent.Registry {
	if c, err := p.config(); err == nil {
		if all, err := agentsOf(c); err == nil {
			return all
		}
	}
	return agent.Builtin()
}
