package gitx

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Variables that make git run or obey something are listed; ordinary variables are not.
func TestDirectives(t *testing.T) {
	got, err := Directives([]byte(`[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = true
	FSMonitor = ./Watch
	hooksPath = .husky/_
	worktree = ../x
[remote "origin"]
	url = https://example.org/x
	url = ext::sh -c x
	uploadPack = ./up
[includeIf "onbranch:x"]
	path = ../more
[filter "x"]
	clean = tools/Clean --all
[branch "main"]
	remote = origin
`))
	want := []Directive{
		{"core.fsmonitor", "./Watch", Program},
		{"core.hookspath", ".husky/_", Hooks},
		{"core.worktree", "../x", WorkTree},
		{"remote.*.url", "ext::sh -c x", Program},
		{"remote.*.uploadpack", "./up", Program},
		{"includeif.*.path", "../more", Include},
		{"filter.*.clean", "tools/Clean --all", Program},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := Directives([]byte("[core\n")); err == nil {
		t.Error("half a configuration has directives")
	}
}
