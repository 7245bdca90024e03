package wiring

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// AgentsOf returns the agents of that configuration: the built-in ones and the person's
// own.
func AgentsOf(c config.Config) (*agent.Registry, error) {
	const op, next = "read agents", "fix config.json"
	var own []agent.Adapter
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if c.Agents[name].Image == "" {
			continue // a built-in agent, with a policy
		}
		a, err := customAgent(name, c.Agents[name]).Adapter()
		if err != nil {
			return nil, cli.Fail(op, err, next)
		}
		own = append(own, a)
	}
	all, err := agent.NewRegistry(own...)
	if err != nil {
		return nil, cli.Fail(op, err, next)
	}
	if _, err := all.Named(c.Agent); err != nil {
		return nil, cli.Fail(op, fmt.Errorf("agent: %w", err), cli.RemedyOf(err, next))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if _, err := all.Named(name); err != nil {
			return nil, cli.Fail(op, fmt.Errorf("models: %w", err), cli.RemedyOf(err, next))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if _, err := all.Named(name); err != nil {
			return nil, cli.Fail(op, fmt.Errorf("agents: %w", err), cli.RemedyOf(err, next))
		}
	}
	if err := checkAgentKeys(c, all); err != nil {
		return nil, cli.Fail(op, err, next)
	}
	return all, nil
}

// checkAgentKeys returns an error for a key of an agent that does not exist or cannot use it.
func checkAgentKeys(c config.Config, all *agent.Registry) error {
	for _, name := range slices.Sorted(maps.Keys(c.AgentAPIKeys)) {
		a, err := all.Named(name)
		if err != nil {
			return fmt.Errorf("agentApiKeys: %w", err)
		}
		provider := c.AgentAPIKeys[name].Provider
		if len(a.Providers) == 0 {
			return fmt.Errorf("agentApiKeys: %s asks no model, so it has no key", name)
		}
		if provider != "" && !slices.Contains(a.Providers, provider) {
			return fmt.Errorf("agentApiKeys: %s cannot use a key of %q; its providers are %s", name, provider, strings.Join(a.Providers, ", "))
		}
	}
	return nil
}

// agentKeys returns the references to keys that config.json has for agents.
func (w Parts) agentKeys() map[string]broker.AgentKey {
	keys := map[string]broker.AgentKey{}
	for name, k := range w.Config.AgentAPIKeys {
		a, err := w.Agents.Named(name)
		if err != nil {
			continue // checkAgentKeys has reported it
		}
		keys[name] = broker.AgentKey{Provider: cmp.Or(k.Provider, a.Providers[0]), Reference: w.reference(k.Secret)}
	}
	return keys
}

// github returns the GitHub server whose API agents may use, or nil.
func (w Parts) github() *broker.GitHub {
	if w.Config.GH == nil {
		return nil
	}
	return &broker.GitHub{Host: w.Config.GH.Host, Token: w.reference(w.Config.GH.Token)}
}

// reference returns where a secret is.
func (w Parts) reference(s config.Secret) secretref.Reference {
	ref := secretref.Reference{Command: s.Command, Env: s.Env}
	if s.File != "" {
		ref.File = w.Paths.expand([]string{s.File})[0]
	}
	return ref
}

// agentPolicies returns the directories of the policies that config.json gives agents.
func (w Parts) agentPolicies() map[string]string {
	dirs := map[string]string{}
	for name, a := range w.Config.Agents {
		if a.Policy != "" {
			dirs[name] = w.Paths.Whole(a.Policy)
		}
	}
	return dirs
}

// codeModes returns which agents can run programs, and the program that runs one.
func (w Parts) codeModes() (modes map[string]codemode.Mode, program string, err error) {
	modes = map[string]codemode.Mode{}
	for name, a := range w.Config.Agents {
		if mode := codemode.Mode(a.CodeMode); mode != "" && mode != codemode.Off {
			modes[name] = mode
		}
	}
	program, err = codemode.Find()
	if len(modes) == 0 {
		err = nil // opening the built-in agent reports the error
	}
	return modes, program, err
}

// policiesOf returns the files of every policy in the configuration.
func (w Parts) policiesOf() []string {
	files := PolicyFiles(w.Config.Policy)
	for _, dir := range w.agentPolicies() {
		files = append(files, PolicyFiles(dir)...)
	}
	slices.Sort(files)
	return files
}

// customAgent turns an agent of the configuration into one of package agent.
func customAgent(name string, a config.Agent) agent.Custom {
	return agent.Custom{
		Name: name, Title: a.Title, Image: a.Image,
		Command: a.Command, Resume: a.Resume, Task: a.Task,
		Env: a.Env, Files: a.Files, Providers: a.Providers, Tools: a.Tools,
		Paste: a.Submit.Paste, Pause: time.Duration(a.Submit.PauseMillis) * time.Millisecond,
	}
}

// Agents returns the agents of the configuration, or the built-in ones if the configuration
// cannot be used.
func (p Paths) Agents() *agent.Registry {
	if c, err := p.Config(); err == nil {
		if all, err := AgentsOf(c); err == nil {
			return all
		}
	}
	return agent.Builtin()
}
