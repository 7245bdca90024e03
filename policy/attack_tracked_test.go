package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTrackedFilesAreProtected makes git show a protected, tracked file that the call does
// not name.
func TestTrackedFilesAreProtected(t *testing.T) {
	w := newWorld(t)
	repo := filepath.Join(w.sandbox, "tracked")
	w.write("iron/sessions/s1/sandbox/tracked/conf/.env", "TOKEN=x")
	w.write("iron/sessions/s1/sandbox/tracked/src/main.go", "package main")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		cmd := exec.Command("git", append([]string{"-C", repo}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	secret := filepath.Join(repo, "conf/.env")
	closed := w.engine(func(c *Config) { c.Protected = append(c.Protected, secret) })
	other := w.engine(func(c *Config) { c.Protected = append(c.Protected, repo+"/src/not-tracked") })
	for _, tc := range []struct {
		tool, rest string
		want       Decision
	}{
		{"git_diff", ``, Deny},
		{"git_diff", `,"target":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"`, Deny}, // the empty tree
		{"git_diff", `,"paths":["."]`, Deny},
		{"git_diff", `,"paths":["conf"]`, Deny},
		{"git_diff", `,"paths":["/workspace/tracked/conf"]`, Deny},
		{"git_diff", `,"paths":["src"]`, Allow},
		{"git_diff", `,"nameOnly":true`, Allow},
		{"git_diff", `,"stat":true`, Allow},
		{"git_log", `,"patch":true`, Deny},
		{"git_log", `,"patch":true,"filePath":"conf"`, Deny},
		{"git_log", `,"patch":true,"filePath":"src/main.go"`, Allow},
		{"git_log", ``, Allow},
		{"git_show", `,"object":"HEAD"`, Deny},
		{"git_show", `,"object":"HEAD","stat":true`, Deny},                              // the object may be the file itself
		{"git_show", `,"object":"1d8ba1e5ae4a5eec3cc0b8a1b0a4bf6e37a0e0ad:.env"`, Deny}, // in a tree that is a subdirectory
		{"git_show", `,"object":"1d8ba1e5ae4a5eec3cc0b8a1b0a4bf6e37a0e0ad","filePath":".env"`, Deny},
		{"git_show", `,"object":"HEAD:src/main.go"`, Allow},
		{"git_show", `,"object":"HEAD","filePath":"src/main.go"`, Allow},
		{"git_status", ``, Allow},
	} {
		c := Call{Server: "git", Tool: tc.tool, Arguments: []byte(`{"path":"/workspace/tracked"` + tc.rest + `}`)}
		if v := closed.Evaluate(c); v.Decision != tc.want || tc.want == Deny && v.Rule != RuleProtectedPath {
			t.Errorf("%s %s: %s by %s (%s), want %s", tc.tool, c.Arguments, v.Decision, v.Rule, v.Reason, tc.want)
		}
		if v := other.Evaluate(c); v.Decision != Allow {
			t.Errorf("nothing protected is tracked: %s %s: %s by %s (%s)", tc.tool, c.Arguments, v.Decision, v.Rule, v.Reason)
		}
	}
}
