package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// realDir is a temporary directory without links in its path.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func effectOf(t *testing.T, server, tool string, args map[string]any) *Effect {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	p, c := &Previewer{Known: KnownHosts, Command: command}, policy.Call{Server: server, Tool: tool, Arguments: raw}
	e := p.Effect(t.Context(), c)
	if brief := p.Fingerprint(t.Context(), c); e != nil && e.Fingerprint != brief || e == nil && brief != "" {
		t.Errorf("%s: the short way comes to another fingerprint", e.Summary)
	}
	return e
}

// text writes an effect as a diff would look.
func text(e *Effect) string {
	if e == nil {
		return "(none)"
	}
	marks := map[LineKind]string{Note: "# ", Warning: "! ", Hunk: "", Same: " ", Removed: "-", Added: "+", Item: "* ", File: "    "}
	var b strings.Builder
	for _, l := range e.Lines {
		b.WriteString(marks[l.Kind] + l.Text + "\n")
	}
	return b.String()
}

func TestWriteFileShowsTheChange(t *testing.T) {
	path := filepath.Join(realDir(t), "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := effectOf(t, "filesystem", "write_file", map[string]any{"path": path, "content": "one\n2\nthree\nfour"})
	want := "@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n# no line end at the end of the file\n"
	if got := text(e); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if !strings.Contains(e.Summary, "2 lines added, 1 line removed") {
		t.Errorf("summary %q", e.Summary)
	}
}

func TestWriteFileThatIsNewOrEqual(t *testing.T) {
	path := filepath.Join(realDir(t), "new")
	if e := effectOf(t, "filesystem", "write_file", map[string]any{"path": path, "content": "x\n"}); !strings.HasPrefix(e.Summary, "creates ") || text(e) != "+x\n" {
		t.Errorf("%q\n%s", e.Summary, text(e))
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := effectOf(t, "filesystem", "write_file", map[string]any{"path": path, "content": "x\n"}); !strings.HasPrefix(e.Summary, "changes nothing") {
		t.Errorf("%q", e.Summary)
	}
}

// Nothing that stands in the file's place is followed, waited for or read.
func TestNothingIsReadBehindLinksAndPipes(t *testing.T) {
	dir := realDir(t)
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("tell-nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "f"), []byte("tell-nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": secret, "dir": filepath.Join(dir, "real"), "loop": "loop", "hang": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "dir/f", "dir", "loop", "hang", "pipe", "real", "real/../secret", "./secret"} {
		for _, tool := range []string{"write_file", "edit_file"} {
			e := effectOf(t, "filesystem", tool, map[string]any{"path": dir + "/" + name, "content": "x", "edits": []edit{{"tell", "x"}}})
			if strings.Contains(text(e), "tell-nobody") {
				t.Errorf("%s of %s shows what is behind it:\n%s", tool, name, text(e))
			}
			if len(e.Warnings()) == 0 {
				t.Errorf("%s of %s does not warn: %q", tool, name, e.Summary)
			}
		}
	}
}

func TestLargeAndBinaryFiles(t *testing.T) {
	dir := realDir(t)
	big, binary := filepath.Join(dir, "big"), filepath.Join(dir, "binary")
	if err := os.WriteFile(big, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, []byte("a\x00b\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := effectOf(t, "filesystem", "write_file", map[string]any{"path": big, "content": "x"}); len(e.Warnings()) != 1 || !strings.Contains(e.Warnings()[0], "larger") {
		t.Errorf("%q", e.Warnings())
	}
	if e := effectOf(t, "filesystem", "write_file", map[string]any{"path": binary, "content": "x"}); !strings.Contains(e.Summary, "not text") || !strings.Contains(text(e), "SHA-256") {
		t.Errorf("%q\n%s", e.Summary, text(e))
	}
}

// What is too long to keep is counted, and the fingerprint is of all of it.
func TestNothingIsCutSilently(t *testing.T) {
	path := filepath.Join(realDir(t), "f")
	long := func(last string) *Effect {
		return effectOf(t, "filesystem", "write_file", map[string]any{"path": path, "content": strings.Repeat("line\n", maxLines+500) + last + "\n"})
	}
	a, b := long("a"), long("b")
	if len(a.Lines) != maxLines || a.More != 501 {
		t.Errorf("%d lines and %d more", len(a.Lines), a.More)
	}
	if a.Fingerprint == b.Fingerprint {
		t.Error("two contents have one fingerprint")
	}
}

// A text made to be hard to compare does not hold the call up for long.
func TestHostileTextsAreComparedInTime(t *testing.T) {
	path := filepath.Join(realDir(t), "f")
	var a, b strings.Builder
	for i := range 24_000 {
		fmt.Fprintf(&a, "%d\n", i*7919%10007)
		fmt.Fprintf(&b, "%d\n", i*104729%10007)
	}
	if err := os.WriteFile(path, []byte(a.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	e := effectOf(t, "filesystem", "write_file", map[string]any{"path": path, "content": b.String()})
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("%v for %s", took, e.Summary)
	} else {
		t.Logf("%v for %s", took, e.Summary)
	}
}

func TestEditFileDoesWhatTheServerDoes(t *testing.T) {
	for _, c := range []struct {
		name, before string
		edits        []edit
		want         string
	}{
		{"exact", "a\nb\nc\n", []edit{{"b", "B"}}, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"first of two", "x\ny\nx\n", []edit{{"x", "z"}}, "@@ -1,3 +1,3 @@\n-x\n+z\n y\n x\n"},
		{"one after the other", "a\n", []edit{{"a", "b"}, {"b", "c"}}, "@@ -1,1 +1,1 @@\n-a\n+c\n"},
		{"another indentation", "\tif x {\n\t\ty\n\t}\n", []edit{{"if x {\n  y\n}", "if z {\n  w\n}"}}, "@@ -1,3 +1,3 @@\n-\tif x {\n-\t\ty\n-\t}\n+\tif z {\n+\tw\n+}\n"},
		{"no pattern of a replacement", "cost\n", []edit{{"cost", "$& $1"}}, "@@ -1,1 +1,1 @@\n-cost\n+$& $1\n"},
		{"not there", "a\n", []edit{{"b", "c"}}, "# edit 1: the text to replace is not in the file:\n-b\n# no line end at the end of the file\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(realDir(t), "f")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := text(effectOf(t, "filesystem", "edit_file", map[string]any{"path": path, "edits": c.edits})); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// The fingerprint follows the file.
func TestFingerprintFollowsTheFile(t *testing.T) {
	path := filepath.Join(realDir(t), "f")
	args := map[string]any{"path": path, "content": "new\n"}
	seen := map[string]bool{}
	for _, content := range []string{"", "a\n", "b\n", "a\nb\n"} {
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := effectOf(t, "filesystem", "write_file", args)
		if again := effectOf(t, "filesystem", "write_file", args); again.Fingerprint != e.Fingerprint {
			t.Error("the same has two fingerprints")
		}
		if seen[e.Fingerprint] {
			t.Errorf("%q has a fingerprint of another content", content)
		}
		seen[e.Fingerprint] = true
	}
}

func TestCommandsAndUnknownTools(t *testing.T) {
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"command": "rm -rf x\nls"}, "* $ rm -rf x\n*   ls\n"},
		{map[string]any{"argv": []string{"rm", "a b", ""}}, "* $ rm 'a b' ''\n"},
		{map[string]any{"command": "git", "args": []string{"push", "-f"}}, "* $ git push -f\n"},
		{map[string]any{"path": "/x"}, "(none)"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := text(effectOf(t, "shell", "run", c.args)); got != c.want {
				t.Errorf("%v: got\n%swant\n%s", c.args, got, c.want)
			}
		})
	}
	if e := (&Previewer{}).Effect(context.Background(), policy.Call{Server: "filesystem", Tool: "write_file", Arguments: []byte("{")}); e != nil {
		t.Errorf("no JSON: %+v", e)
	}
}

// command is the command of git that a tool of such a name runs.
func command(_, tool string) string {
	name, _ := strings.CutPrefix(tool, "git_")
	return name
}
