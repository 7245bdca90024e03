package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// defaultEngine judges by the shipped policy over a fresh sandbox.
func defaultEngine(t testing.TB, change ...func(*Config)) (*Engine, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sandbox := filepath.Join(root, "sandbox")
	if err := os.Mkdir(sandbox, 0o700); err != nil {
		t.Fatal(err)
	}
	c, a := Default()
	config := Config{
		Policy: c, Annotations: a, Sandbox: sandbox, Mount: "/workspace",
		Home: filepath.Join(root, "home"), SystemGit: filepath.Join(root, "no-gitconfig"),
	}
	for _, f := range change {
		f(&config)
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return e, root
}

func TestDefaultPolicy(t *testing.T) {
	e, root := defaultEngine(t)
	for _, c := range []struct {
		server, tool, args string
		want               Decision
	}{
		{"filesystem", "read_text_file", `{"path":"/workspace/a.txt"}`, Allow},
		{"filesystem", "write_file", `{"path":"a/b.txt","content":"-rf /etc https://x"}`, Allow},
		{"filesystem", "list_directory", `{"path":"."}`, Allow},
		{"filesystem", "read_text_file", `{"path":"` + root + `/outside/notes.txt"}`, Escalate},
		{"filesystem", "write_file", `{"path":"` + root + `/outside/notes.txt","content":"x"}`, Escalate},
		{"filesystem", "list_allowed_directories", `{}`, Allow},
		{"git", "git_status", `{}`, Allow},
		{"git", "git_push", `{}`, Escalate},
		{"git", "git_push", `{"remote":"origin"}`, Escalate},
		{"git", "git_remote", `{"mode":"list"}`, Allow},
		{"git", "git_remote", `{"mode":"add","name":"x","url":"https://github.com/a/b.git"}`, Escalate},
		{"git", "git_commit", `{"message":"fix: -x"}`, Allow},
		{"fetch", "http_fetch", `{"url":"https://example.com/a"}`, Escalate},
		{"fetch", "http_fetch", `{"url":"http://169.254.169.254/"}`, Deny},
		{"nobody", "nothing", `{}`, Deny},
	} {
		v := e.Evaluate(Call{Server: c.server, Tool: c.tool, Arguments: []byte(c.args)})
		if v.Decision != c.want {
			t.Errorf("%s/%s %s: %s by %s (%s), want %s", c.server, c.tool, c.args, v.Decision, v.Rule, v.Reason, c.want)
		}
		t.Logf("%s %s → %s %s %s %s", c.tool, c.args, v.Decision, v.Rule, v.Reason, v.Arguments)
	}
}

// TestDefaultAnnotationsAreComplete: every argument of every tool is annotated, and no
// argument is annotated that the tool does not have.
func TestDefaultAnnotationsAreComplete(t *testing.T) {
	_, a := Default()
	count := map[string]int{}
	for key, tool := range a.tools {
		count[key.server]++
		properties, _ := tool.schema.Source().Member("properties")
		if len(properties.Members) != len(tool.args) {
			t.Errorf("%v: %d arguments in the schema, %d annotated", key, len(properties.Members), len(tool.args))
		}
		for _, m := range properties.Members {
			if _, ok := tool.args[m.Name]; !ok {
				t.Errorf("%v: argument %s is not annotated", key, m.Name)
			}
		}
	}
	if count["filesystem"] != 14 || count["git"] != 28 || count["fetch"] != 1 {
		t.Errorf("tools: %v", count)
	}
	if w := a.Warnings(); len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
	e, _ := defaultEngine(t)
	if w := e.warnings; len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
}

// TestManyPathsAreRefused: a call cannot keep the engine busy for long.
func TestManyPathsAreRefused(t *testing.T) {
	e, _ := defaultEngine(t)
	args := `{"paths":["a"` + strings.Repeat(`,"a"`, 50_000) + `]}`
	if v := e.Evaluate(Call{Server: "filesystem", Tool: "read_multiple_files", Arguments: []byte(args)}); v.Decision != Deny {
		t.Errorf("%s by %s", v.Decision, v.Rule)
	}
}
