package sessions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// shell runs a script in a directory.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// copied makes a session that works in a copy of a directory, in the home of this test.
func copied(t *testing.T) (l stored.Layout, origin string) {
	t.Helper()
	id, err := stored.NewID()
	if err != nil {
		t.Fatal(err)
	}
	l = stored.LayoutOf(os.Getenv("IRONCURTAIN_HOME"), id)
	origin = filepath.Join(stored.RealPath(t.TempDir()), "project")
	for _, dir := range []string{l.Dir, origin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, origin, "git init -q; echo '*.log' > .gitignore; echo 1 > a; echo 1 > both")
	if _, err := copies.Make(t.Context(), origin, l.Copy(), l.CopyNote()); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(stored.Record{Session: stored.Session{
		ID: id, Agent: "shell", State: stored.StateClosed, Workspace: l.Copy(), Origin: origin, CreatedAt: time.Now(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return l, origin
}

// ownHome gives the test a home of its own.
func ownHome(t *testing.T) {
	t.Helper()
	home, err := os.MkdirTemp("", "ic") // short, as the paths of sockets must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	t.Setenv("HOME", home)
	t.Setenv("IRONCURTAIN_HOME", filepath.Join(home, "state"))
}

// run runs 'sessions' with arguments, and returns what it prints with paths as names.
func run(t *testing.T, origin string, args ...string) (out, errs string, err error) {
	t.Helper()
	cmd := Command(&cobra.Command{Use: "resume"})
	var o, e strings.Builder
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SetIn(strings.NewReader("y\n")) // no terminal, so this is no answer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return strings.ReplaceAll(o.String(), origin, "ORIGIN"), e.String(), err
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func TestLandShowsAndLands(t *testing.T) {
	ownHome(t)
	l, origin := copied(t)
	id := filepath.Base(l.Dir)[:8]
	shell(t, l.Copy(), "echo 2 > a; echo 2 > both; echo x > .envrc; echo l > x.log; mkdir d; printf '\\033' > \"d/$(printf 'e\\033')\"")
	shell(t, origin, "echo 3 > both")
	want := `programs of this machine run or obey these by themselves; look at them before you land them:
  added    .envrc (the shell loads it)

to be landed in ORIGIN:
  changed  a (2 bytes)
  added    d/e\e (1 byte)

changed on both sides; these stay as they are:
  changed  both (it was changed in ORIGIN, too)

git ignores these; --ignored lands them, too:
  x.log
`
	out, errs, err := run(t, origin, "land", id)
	if err != nil || out != want || !strings.Contains(errs, "--yes lands it") || content(t, filepath.Join(origin, "a")) != "1\n" {
		t.Fatalf("%v, printed\n%s\n%s", err, out, errs)
	}
	if out, _, err = run(t, origin, "land", id, "--diff", "--json"); err != nil || !strings.Contains(out, `"landed":[]`) || !strings.Contains(out, `"runs":"the shell loads it"`) {
		t.Errorf("%v, as JSON\n%s", err, out)
	}
	out, _, err = run(t, origin, "land", "--yes", "--diff")
	if err != nil || !strings.Contains(out, "\na:\n@@ -1 +1 @@\n-1\n+2\n") || !strings.HasSuffix(out, "landed 3 changed files\n") || strings.Contains(out, "\x1b") {
		t.Errorf("%v, printed\n%s", err, out)
	}
	if got := content(t, filepath.Join(origin, "a")) + content(t, filepath.Join(origin, "both")) + content(t, filepath.Join(origin, "x.log")); got != "2\n3\n" {
		t.Errorf("landed %q", got)
	}
	if out, _, err = run(t, origin, "land", "--yes", "--ignored"); err != nil || !strings.HasSuffix(out, "landed 1 changed file\n") || content(t, filepath.Join(origin, "x.log")) != "l\n" {
		t.Errorf("%v, printed\n%s", err, out)
	}
	shell(t, l.Copy(), "cp "+origin+"/both both")
	if out, _, err = run(t, origin, "land", "--yes"); err != nil || out != "session "+id+" has no changes in its copy of ORIGIN that are missing there\n" {
		t.Errorf("%v, printed\n%s", err, out)
	}
}

// At a terminal the person is asked, and only a yes is one.
func TestLandAsks(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "2\n", "YES\n": "2\n", "\n": "1\n", "n\n": "1\n", "yep\n": "1\n"} {
		t.Run(strings.TrimSpace(answer), func(t *testing.T) {
			ownHome(t)
			l, origin := copied(t)
			shell(t, l.Copy(), "echo 2 > a")
			person, terminal, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer person.Close()
			defer terminal.Close()
			if _, err := person.WriteString(answer); err != nil {
				t.Fatal(err)
			}
			cmd := sessionsLandCommand()
			var errs strings.Builder
			cmd.SetIn(terminal)
			cmd.SetOut(&strings.Builder{})
			cmd.SetErr(&errs)
			cmd.SetArgs([]string{})
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := content(t, filepath.Join(origin, "a")); got != want || !strings.Contains(errs.String(), "land 1 file in ") {
				t.Errorf("a is %q, asked %q", got, errs.String())
			}
		})
	}
}

func TestLandNeedsOneCopy(t *testing.T) {
	ownHome(t)
	if _, _, err := run(t, "", "land"); err == nil || !strings.Contains(err.Error(), "no session works in a copy") {
		t.Errorf("of none: %v", err)
	}
	copied(t)
	_, origin := copied(t)
	if _, _, err := run(t, origin, "land"); err == nil || !strings.Contains(err.Error(), "2 sessions work in copies") {
		t.Errorf("of two: %v", err)
	}
	if _, _, err := run(t, origin, "land", "a", "b"); err == nil || !strings.Contains(err.Error(), "at most one id") {
		t.Errorf("of two named: %v", err)
	}
}

// Lists name the directory, and what was not landed; and such a session stays.
func TestSessionsWithCopies(t *testing.T) {
	ownHome(t)
	l, origin := copied(t)
	shell(t, l.Copy(), "echo 2 > a")
	if err := stored.NoteUnlanded(l, "1 changed file"); err != nil {
		t.Fatal(err)
	}
	id := filepath.Base(l.Dir)
	for _, c := range []struct{ command, want string }{
		{"ls", "ORIGIN (copy, not landed: 1 changed file)"},
		{"show", "not landed    1 changed file (ironcurtain-mux sessions land " + id[:8] + ")"},
	} {
		args := []string{c.command}
		if c.command == "show" {
			args = append(args, id)
		}
		if out, _, err := run(t, origin, args...); err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v, printed\n%s", c.command, err, out)
		}
	}
	if _, _, err := run(t, origin, "rm", id); err == nil || !strings.Contains(err.Error(), "has 1 changed file") {
		t.Errorf("removed: %v", err)
	}
	if _, _, err := run(t, origin, "land", "-y"); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := run(t, origin, "ls"); strings.Contains(out, "not landed") || !strings.Contains(out, "ORIGIN (copy)") {
		t.Errorf("landed, and ls prints\n%s", out)
	}
	if _, _, err := run(t, origin, "rm", id); err != nil {
		t.Errorf("landed, and not removed: %v", err)
	}
}
