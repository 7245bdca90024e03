package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// driveIn is drive for the program started in a directory.
func driveIn(t *testing.T, home, dir string, args ...string) *driver {
	t.Helper()
	return driveArgv(t, home, 100, 30, append([]string{"env", "-C", dir, "ironcurtain-mux"}, args...)...)
}

// answerHere answers the question whether to work in a project, once it was there for long enough.
func (d *driver) answerHere(key string) {
	d.t.Helper()
	d.see(patience, "work in this project?")
	d.until("the answer to be taken", patience, func(screen string) bool {
		if !strings.Contains(screen, "work in this project?") {
			return true
		}
		d.send(key)
		return false
	})
}

// In a project the program asks once whether to work there, and works where the person says. It
// never asks elsewhere, and never in the demo.
func TestHere(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	repo, other := filepath.Join(home, "repo"), filepath.Join(home, "other")
	newRepository(t, repo)
	if err := os.Chmod(repo, 0o755); err != nil { // not a directory to which everybody can write
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(repo, "sub"), other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "Makefile"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	configure(t, home, `{"agent":"shell"}`)
	answers := func() string {
		cmd := exec.Command("ironcurtain-mux", "here")
		cmd.Env = environment(home, cacheDirectory(t))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("here: %v: %s", err, out)
		}
		return string(out)
	}

	d := driveIn(t, home, filepath.Join(repo, "sub"))
	d.see(patience, repo, "work on a branch of its own", "work in an empty directory")
	d.answerHere("w")
	d.see(patience, "/workspace$")
	if got := answers(); !strings.Contains(got, "worktree  "+repo) {
		t.Errorf("kept:\n%s", got)
	}
	if s := d.onlySession(); s.Worktree == nil || s.Worktree.Repository != repo {
		t.Errorf("it works in %+v", s)
	}

	again := driveIn(t, home, repo) // the tab is there, and there is an answer
	again.see(patience, "/workspace$")
	again.send("\x01/detach\r")
	again.exit(patience)

	elsewhere := driveIn(t, home, other) // no tab works there
	elsewhere.see(patience, other, "show the open tabs")
	elsewhere.answerHere("n")
	elsewhere.see(patience, "/workspace$")
	elsewhere.send("\x01/detach\r")
	elsewhere.exit(patience)
	if got := answers(); !strings.Contains(got, "no        "+other) {
		t.Errorf("kept:\n%s", got)
	}
	d.onlySession()

	says := func(word string) error {
		cmd := exec.Command("ironcurtain-mux", "here", word)
		cmd.Dir, cmd.Env = other, environment(home, cacheDirectory(t))
		return cmd.Run()
	}
	if err := says("yes"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(other, 0o777); err != nil { // others can make another project of it now
		t.Fatal(err)
	}
	if says("worktree") == nil || says("yes") == nil {
		t.Error("a yes is kept for a directory to which everybody can write")
	}
	shared := driveIn(t, home, other)
	shared.see(patience, other, "only a no is kept")
	shared.answerHere("n")
	shared.see(patience, "/workspace$")
	shared.send("\x01/detach\r")
	shared.exit(patience)
	d.onlySession()

	demo := driveIn(t, home, other, "demo", "--agent", "shell")
	demo.inTab(2, "scripted model")
}
