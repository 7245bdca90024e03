package compile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// The files of a policy directory.
const (
	PolicyFile      = "compiled-policy.json"
	ListsFile       = "dynamic-lists.json"
	AnnotationsFile = "tool-annotations.json"
	ScenariosFile   = "test-scenarios.json"
)

// Previous is what was compiled into a directory before.
type Previous struct {
	policy    *policy.Compiled
	lists     *policy.Lists
	scenarios []policy.Scenario
	stamp     string // of policy and lists as they were read
}

// ReadPrevious reads what was compiled into a directory, nothing when there is no
// policy. Only rules that were verified, and are still the same, are of use.
func ReadPrevious(dir string) (*Previous, error) {
	p := &Previous{}
	var err error
	if p.stamp, err = stampOf(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, PolicyFile)); errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if p.policy, p.lists, err = policy.LoadDir(dir); err != nil {
		return nil, err
	}
	p.scenarios, err = policy.LoadScenarios(filepath.Join(dir, ScenariosFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return p, err
}

// Forget returns what is left of a directory that is not to be read: only whether
// it changes meanwhile.
func Forget(dir string) (*Previous, error) {
	stamp, err := stampOf(dir)
	return &Previous{stamp: stamp}, err
}

// stampOf identifies the policy and the lists in a directory.
func stampOf(dir string) (string, error) {
	var parts []string
	for _, name := range []string{PolicyFile, ListsFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err == nil:
			parts = append(parts, name, string(data))
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return hash(append(parts, "")...), nil
}

// server returns what was compiled and verified for a server.
func (p *Previous) server(name string) (ServerResult, bool) {
	if p == nil || p.policy == nil || p.policy.Verified == "" {
		return ServerResult{}, false
	}
	i := slices.IndexFunc(p.policy.Servers, func(s policy.CompiledServer) bool { return s.Name == name })
	if i < 0 {
		return ServerResult{}, false
	}
	r := ServerResult{Name: name, InputHash: p.policy.Servers[i].InputHash, Values: map[string]policy.List{}}
	for _, rule := range p.policy.Rules {
		if slices.Equal(policy.Find[policy.Servers](rule.If), policy.Servers{name}) {
			r.Rules = append(r.Rules, rule)
		}
	}
	own := &policy.Compiled{Rules: r.Rules}
	for _, def := range p.policy.Lists {
		if refers(own, def.Name) {
			r.Lists = append(r.Lists, def)
			r.Values[def.Name], _ = p.lists.Get(def.Name)
		}
	}
	for _, s := range p.scenarios {
		if s.Call.Server == name {
			r.Scenarios = append(r.Scenarios, s)
		}
	}
	return r, true
}

// list returns a list as it was, with what a person changed by hand, when there
// was one of the same name and type.
func (p *Previous) list(def policy.ListDefinition) policy.List {
	if p == nil || p.policy == nil {
		return policy.List{}
	}
	if !slices.ContainsFunc(p.policy.Lists, func(d policy.ListDefinition) bool { return d.Name == def.Name && d.Type == def.Type }) {
		return policy.List{}
	}
	got, _ := p.lists.Get(def.Name)
	return got
}
