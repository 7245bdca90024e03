package preview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// The effect of a commit is what is staged, and changes with it.
func TestACommitShowsWhatIsStaged(t *testing.T) {
	r := newRepository(t)
	p := &Previewer{Command: func(_, tool string) string { return strings.TrimPrefix(tool, "git_") }}
	stage := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.git("add", name)
	}
	call := func(more string) policy.Call {
		return policy.Call{Server: "git", Tool: "git_commit", Arguments: []byte(`{"path":"` + r.dir + `","message":"x"` + more + `}`)}
	}
	show := func(more string) *Effect {
		t.Helper()
		e := p.Effect(t.Context(), call(more))
		if w := e.Warnings(); len(w) > 0 {
			t.Fatalf("warnings: %q", w)
		}
		if got := p.Fingerprint(t.Context(), call(more)); got != e.Fingerprint {
			t.Errorf("the fingerprint is %s, then %s", e.Fingerprint, got)
		}
		return e
	}
	stage("a", "one")
	first := show("")
	if first.Tree != r.git("write-tree") || first.Head != "" || first.Summary != "commits 1 staged file on main" || len(first.Lines) != 1 || first.Lines[0].Text != "A a" {
		t.Errorf("%+v", first)
	}
	head := r.commit("first")
	if same := show(""); same.Head != head || len(same.Lines) != 0 {
		t.Errorf("%+v", same)
	}
	stage("a", "two")
	stage("b", "new")
	second := show("")
	if second.Tree != r.git("write-tree") || len(second.Lines) != 2 || second.Lines[0].Text != "M a" || second.Fingerprint == first.Fingerprint {
		t.Errorf("%+v", second)
	}
	if amended := show(`,"amend":true`); len(amended.Lines) != 2 || amended.Lines[0].Text != "A a" || !strings.HasPrefix(amended.Summary, "replaces "+head[:12]) {
		t.Errorf("%+v", amended)
	}
	if more := show(`,"filesToStage":["c"]`); more.Tree != "" || !strings.Contains(more.Lines[0].Text, "stages c first") {
		t.Errorf("%+v", more)
	}
	// Attributes, filters and hooks of the repository have no part in it.
	r.git("config", "filter.x.clean", "touch "+filepath.Join(r.dir, "ran"))
	stage(".gitattributes", "* filter=y\n")
	r.git("config", "core.fsmonitor", "touch "+filepath.Join(r.dir, "ran"))
	show("")
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Error("a program of the repository ran")
	}
	// An index that git cannot read is a warning.
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "index"), []byte("DIRC nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := p.Effect(t.Context(), call("")); len(e.Warnings()) != 1 || e.Tree != "" {
		t.Errorf("%+v", e)
	}
}
