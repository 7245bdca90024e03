package compile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// World is a file system for testing rules: a workspace with a repository, and a home
// directory with typical files. The engine sees the workspace as /workspace and the home
// as ~.
type World struct {
	sandbox, home string
	protected     []string
}

// NewWorld makes a world below an existing empty directory. It also makes the workspace,
// unless one is given. Protected paths in the machine's home become the same paths in the
// world's home.
func NewWorld(dir, workspace string, m Machine) (*World, error) {
	w := &World{sandbox: workspace, home: filepath.Join(dir, "home")}
	files := map[string]string{
		"home/Documents/report.txt": "report\n", "home/Downloads/archive.zip": "zip\n", "home/Desktop/note.txt": "note\n",
		"home/.ssh/id_ed25519": "a key\n", "home/.aws/credentials": "a key\n", "home/.gnupg/secring": "a key\n", "home/.bashrc": "\n",
	}
	if workspace == "" {
		w.sandbox = filepath.Join(dir, "workspace")
		for name, content := range map[string]string{
			"README.md": "readme\n", "src/main.go": "package main\n", ".git/HEAD": "ref: refs/heads/main\n",
			".git/config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://github.com/example/project.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
		} {
			files["workspace/"+name] = content
		}
		for _, empty := range []string{"objects", "refs/heads"} {
			if err := os.MkdirAll(filepath.Join(dir, "workspace", ".git", empty), 0o700); err != nil {
				return nil, err
			}
		}
	}
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	for _, p := range m.Protected {
		if rest, ok := strings.CutPrefix(p, m.Home+"/"); ok {
			p = filepath.Join(w.home, rest)
		}
		w.protected = append(w.protected, p)
	}
	return w, nil
}

// Engine builds the engine that judges by a policy in this world.
func (w *World) Engine(c *policy.Compiled, a *policy.Annotations, l *policy.Lists) (*policy.Engine, error) {
	return policy.New(policy.Config{
		Policy: c, Annotations: a, Lists: l, Sandbox: w.sandbox, Mount: "/workspace", Home: w.home, Protected: w.protected,
	})
}

// extremes returns engines with the extreme policies for a server: rules that allow as
// much as possible, rules that escalate everything, and no rules.
func (w *World) extremes(server string, a *policy.Annotations) ([]*policy.Engine, error) {
	of := func(then policy.Decision) []policy.Rule {
		of := policy.Servers{server}
		every := func(role policy.Role) policy.Predicate {
			return &policy.DomainCondition{Roles: []policy.Role{role}, Allowed: []string{"*"}}
		}
		return []policy.Rule{
			{Name: "web", If: policy.Condition{of, every(policy.FetchURL)}, Then: then, Reason: "web"},
			{Name: "remotes", If: policy.Condition{of, every(policy.GitRemote)}, Then: then, Reason: "remotes"},
			{Name: "all", If: policy.Condition{of}, Then: then, Reason: "all"},
		}
	}
	var out []*policy.Engine
	for _, rules := range [][]policy.Rule{of(policy.Allow), of(policy.Escalate), nil} {
		e, err := w.Engine(&policy.Compiled{Rules: rules}, a, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// possible reports whether any rules could give a scenario its expected decision. If none
// could, the scenario tests nothing.
func possible(extremes []*policy.Engine, s policy.Scenario) (bool, policy.Verdict) {
	var last policy.Verdict
	for _, e := range extremes {
		last = e.Evaluate(s.Call)
		if s.Met(last.Decision) {
			return true, last
		}
	}
	return false, last
}
