package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// newRepository makes a repository with one commit and one change that is not
// committed, for everybody to write to.
func newRepository(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := `git init -q && echo one >a && git add a && git -c user.name=t -c user.email=t@t commit -qm first && echo mine >>a && chmod -R a+rwX .`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// In a repository that was given the agent can change files and commit, but not
// what git would run for the person, though the repository has no hooks at first; and
// /diff shows what has changed since the session's start, not what had been changed
// before, and first of all what programs of this machine would run. So does the end.
func TestGivenRepository(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	repo := filepath.Join(home, "repo")
	newRepository(t, repo)
	if err := errors.Join(os.Chmod(home, 0o755), os.RemoveAll(filepath.Join(repo, ".git/hooks"))); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 110, 40, "demo", "--agent", "shell", "--workspace", repo)
	d.see(patience, "/workspace$")
	id := d.onlySession().ID
	d.until("the note of how it was", patience, func(string) bool {
		record, _ := os.ReadFile(d.state("sessions", id, "session.json"))
		return strings.Contains(string(record), `"base"`)
	})
	if copied() {
		// The container's repository is the agent's own, and these parts of it do not come here.
		d.send("clear; echo evil >.git/hooks/pre-commit; git config core.fsmonitor /tmp/evil; git config core.fsmonitor\r")
		d.see(patience, "/tmp/evil")
	}
	for i, try := range []string{
		"echo evil >.git/hooks/pre-commit", "git config core.fsmonitor /tmp/evil", "mv .git .old", "rm -rf .git/hooks", "mv .git/hooks .git/h",
		"mkdir .git/hooks", "echo evil >.git/hooks/post-checkout",
	} {
		if copied() {
			break
		}
		d.send(fmt.Sprintf("clear; %s && echo gate-$((%d))-is-open || echo gate-$((%d))-holds\r", try, i, i))
		d.see(patience, fmt.Sprintf("gate-%d-holds", i))
	}
	d.send("clear; echo two >>a; echo new >b; echo evil >.envrc; git init -q in; git -C in config core.fsmonitor /tmp/evil; echo done-$((1))\r")
	d.see(patience, "done-1")
	d.send("\x01/diff\r")
	d.see(patience, "changed since its start", "+two", "new file: b", "before you use git",
		"new: in/.git/config (git obeys its core.fsmonitor)", "new: .envrc (the shell loads it)")
	if strings.Contains(d.text(), "+mine") {
		t.Errorf("what was changed before the start is shown as changed:\n%s", d.text())
	}
	d.send("q")
	d.see(patience, "/workspace$")
	// What would make git follow the agent elsewhere is gone when the agent is.
	d.send("clear; mkdir evil; echo ../evil >.git/commondir; echo planted-$((1))\r")
	d.see(patience, "planted-1")
	repo = d.onlySession().Workspace
	if !copied() { // else it comes here at the end
		d.see(patience, "do not use git in ")
	}
	d.quit()
	if !d.says("new: in/.git/config (git obeys its core.fsmonitor)", "new: .envrc (the shell loads it)", "commondir.disarmed") {
		t.Errorf("the end does not name what the agent has left:\n%s", d.text())
	}
	for name, there := range map[string]bool{"commondir": false, "commondir.disarmed": true, "hooks": false} {
		if _, err := os.Lstat(filepath.Join(repo, ".git", name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if config, err := os.ReadFile(filepath.Join(repo, ".git/config")); err != nil || strings.Contains(string(config), "evil") {
		t.Errorf("the repository's configuration is %s, %v", config, err)
	}
	d.traceless()
}

// Another agent that works in the same directory puts a link in the place of the
// repository while the container begins. The engine mounts what the link names; the
// agent does not begin.
func TestExchangedRepository(t *testing.T) {
	if copied() {
		t.Skip("no directory of a person is mounted then") //nolint:forbidigo // it cannot hold there
	}
	t.Parallel()
	home := newHome(t)
	repo, other := filepath.Join(home, "repo"), filepath.Join(home, "other")
	newRepository(t, repo)
	newRepository(t, other)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	engine, socket := machineEngine(t), filepath.Join(home, "engine.sock")
	var exchanged sync.Once
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/start") {
			exchanged.Do(func() {
				git := filepath.Join(repo, ".git")
				if err := errors.Join(os.Rename(git, git+".old"), os.Symlink(filepath.Join(other, ".git"), git)); err != nil {
					t.Error(err)
				}
			})
		}
		engine.ServeHTTP(w, r)
	}))
	d := driveArgv(t, home, 110, 30, "env", "DOCKER_HOST=unix://"+socket, "ironcurtain-mux", "demo", "--agent", "shell", "--workspace", repo)
	d.dead("/workspace/.git is not what was to be mounted there", "End other agents that work there")
	if strings.Contains(d.text(), "/workspace$") {
		t.Errorf("the agent has begun:\n%s", d.text())
	}
	d.quit()
	d.traceless()
}

// The setup commands of a workspace run in the container before the agent; when
// they fail, the tab shows what they said and there is no agent.
func TestSetup(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	good, bad := filepath.Join(home, "good"), filepath.Join(home, "bad")
	for _, dir := range []string{good, bad, filepath.Join(home, "state")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf(`{"setup":[{"workspace":%q,"run":"echo prepared in $PWD >~/note"},{"workspace":%q,"run":"echo nothing works\nfalse\necho not reached"}]}`, good, bad)
	configure(t, home, config)
	d := drive(t, home, 110, 30, "demo", "--agent", "shell", "--workspace", good)
	d.see(patience, "/workspace$")
	d.send("cat ~/note\r")
	d.see(patience, "prepared in /workspace")
	d.send("\x01/new shell --workspace " + bad + "\r")
	d.see(patience, "nothing works", "setup of this workspace has failed with code 1")
	if strings.Contains(d.text(), "not reached") {
		t.Errorf("the commands went on after a failure:\n%s", d.text())
	}
	d.quit()
	d.traceless()
}
