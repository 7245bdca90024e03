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
	stamp     string // identifies the policy and lists that were read
}

// ReadPrevious reads what was compiled into a directory. The result is empty when there is
// no policy. Rules that were not verified are not used.
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

// Forget returns a Previous without rules for a directory whose policy is to be ignored.
// It only remembers the files, so that Write notices when they change meanwhile.
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

// server returns what was compiled and verified for a server, if anything.
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

// list returns the previous list of the same name and type, including what a person
// changed by hand. It is empty when there was none.
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
