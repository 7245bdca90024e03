package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Registry is the list of agents that a session can run.
type Registry struct{ all []Adapter }

// Builtin returns a registry of this program's own agents.
func Builtin() *Registry {
	r, err := NewRegistry()
	if err != nil {
		panic("agent: " + err.Error()) // a test proves that the names differ
	}
	return r
}

// NewRegistry returns a registry of this program's own agents and others. It fails if two
// have the same name.
func NewRegistry(others ...Adapter) (*Registry, error) {
	r := &Registry{all: append([]Adapter{builtin(), claudeCode(), codex(), gemini(), goose(), localShell(), openCode(), shell()}, others...)}
	slices.SortFunc(r.all, func(a, b Adapter) int { return strings.Compare(a.Name, b.Name) })
	for i := range r.all[1:] {
		if r.all[i].Name == r.all[i+1].Name {
			return nil, fmt.Errorf("two agents are called %q", r.all[i].Name)
		}
	}
	return r, nil
}

// All returns every adapter, ordered by name.
func (r *Registry) All() []Adapter { return slices.Clone(r.all) }

// Named returns the adapter of that name, or an error that lists the agents.
func (r *Registry) Named(name string) (Adapter, error) {
	for _, a := range r.all {
		if a.Name == name {
			return a, nil
		}
	}
	return Adapter{}, fault.New("agents: "+strings.Join(r.names(), ", "), "no agent is called %q%s", name, text.DidYouMean(name, r.names()))
}

func (r *Registry) names() []string {
	names := make([]string, len(r.all))
	for i, a := range r.all {
		names[i] = a.Name
	}
	return names
}

// Providers lists the model providers that some agent can talk to, by name.
func (r *Registry) Providers() []string {
	var all []string
	for _, a := range r.all {
		all = append(all, a.Providers...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// NoSentinelError means that an agent has no provider to talk to.
type NoSentinelError struct {
	Agent     string
	Providers []string
}

func (e *NoSentinelError) Error() string {
	return fmt.Sprintf("%s has no credential for any of its providers: %s", e.Agent, strings.Join(e.Providers, ", "))
}
