package preview

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// BenchmarkDiff shows the change of one line in a file of a thousand.
func BenchmarkDiff(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	text := strings.Repeat("a line of some length, as there are many\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	args, err := json.Marshal(map[string]string{"path": path, "content": strings.Replace(text, "many", "few", 1)})
	if err != nil {
		b.Fatal(err)
	}
	p, c := &Previewer{}, policy.Call{Server: "filesystem", Tool: "write_file", Arguments: args}
	for b.Loop() {
		if e := p.Effect(b.Context(), c); e.Kind != Diff {
			b.Fatal(e)
		}
	}
}

// BenchmarkPush shows a push of ten commits from a history of a thousand, and
// looks whether that still holds.
func BenchmarkPush(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var stream strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 2\nc\nM 644 inline f%d\ndata 2\nx\n\n", 1700000000+i, i)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"fast-import", "--quiet"},
		{"remote", "add", "origin", "https://github.com/me/x.git"},
		{"update-ref", "refs/remotes/origin/main", "main~10"},
	} {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	args, err := json.Marshal(map[string]string{"path": dir, "remote": "origin"})
	if err != nil {
		b.Fatal(err)
	}
	p, c := &Previewer{Command: command}, policy.Call{Server: "git", Tool: "git_push", Arguments: args}
	b.Run("effect", func(b *testing.B) {
		for b.Loop() {
			if e := p.Effect(b.Context(), c); !strings.HasPrefix(e.Summary, "pushes 10 commits") {
				b.Fatal(e.Summary)
			}
		}
	})
	b.Run("fingerprint", func(b *testing.B) {
		for b.Loop() {
			if p.Fingerprint(b.Context(), c) == "" {
				b.Fatal("none")
			}
		}
	})
}
