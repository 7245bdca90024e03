package hostexec_test

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
)

func TestGit(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, "git~1": true, ".git ": true, ".g\u200cit": true, "\ufeff.git": true, ".gi\u202et": true, ".ｇit": true,
		".gitignore": false, "git": false, ".github": false, "": false,
	} {
		if got := hostexec.Git(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
