package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitIn runs git in a person's repository and returns what it prints.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-c", "user.name=t", "-c", "user.email=t@t", "-C", dir}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// toolAgent writes a configuration with an agent that is a shell whose $TOOLS
// speaks to the host's tools.
func toolAgent(t *testing.T, home string, more map[string]any) {
	t.Helper()
	image, present, err := engine(t).ImageTag(t.Context(), "shell", standardRecipe)
	if err != nil || !present {
		t.Fatalf("image %s: %v, %v", image, present, err)
	}
	mine := map[string]any{
		"image": image, "command": []string{"bash", "--noprofile", "--norc", "-i"},
		"env": map[string]string{"TOOLS": "{mcp-command}", "PS1": "mine$ "},
	}
	config := map[string]any{"agents": map[string]any{"mine": mine}}
	for name, value := range more {
		config[name] = value
	}
	if providers, has := config["providers"]; has {
		mine["providers"] = providers
		delete(config, "providers")
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	configure(t, home, string(text))
}

// callTools types tool calls, each as "name arguments", into the agent's shell. It keeps the bridge's
// input open until the last call is answered, which a person may have to approve first.
func callTools(calls ...string) string {
	text := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"m","version":"1"}}}\n` +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}\n`
	for i, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		text += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}\n`, i+2, name, arguments)
	}
	return "(f=$(mktemp -u); mkfifo $f; $TOOLS <$f >$f.out & exec 3>$f; printf '" + text + "' >&3; " +
		fmt.Sprintf(`until grep -q '"id":%d,' $f.out; do sleep 0.1; done; exec 3>&-; wait; cat $f.out)`, len(calls)+1)
}

// Two tabs on one repository, each with a worktree and a branch of its own. Git
// works in them, in the container and through the host's git server, and cannot
// reach the person's repository; their commits come to it when they end, and of a
// worktree in which nothing was done nothing stays.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	repo := filepath.Join(home, "repo")
	newRepository(t, repo)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+gitIn(t, repo, "rev-parse", "HEAD")+",vendor")
	gitIn(t, repo, "commit", "--quiet", "--amend", "--no-edit")
	first := gitIn(t, repo, "rev-parse", "HEAD")
	toolAgent(t, home, map[string]any{"worktree": true, "setup": []map[string]string{{"workspace": repo, "run": "echo set up >~/note"}}})
	d := drive(t, home, 130, 40, "demo", "--agent", "mine", "--workspace", repo)
	d.see(patience, "mine$", "the worktree lacks submodule vendor", "--no-worktree")
	id := d.onlySession().ID
	branch := "ironcurtain/" + string(id[:8])
	d.send("clear; cat ~/note; git status | head -1; git log --format=%s; tail -n 1 a\r")
	d.see(patience, "set up", "On branch "+branch, "first", "one") // and nothing that was not committed
	for i, try := range []string{
		"git config core.fsmonitor /tmp/evil", "echo evil >.git/hooks/pre-commit", "echo /tmp >.git/commondir", "rm -f .git/commondir",
		"mv .git .old", "mv .git/objects .git/o", "echo /tmp >.git/objects/info/alternates", "touch " + repo + "/.git/objects/evil",
	} {
		seen := "holds"
		switch {
		case copied() && i < 2:
			seen = "is-open" // in the container's own repository, from where it does not come here
		case copied() && i < 7:
			continue // that would be to the agent's own harm
		}
		d.send(fmt.Sprintf("clear; %s && echo gate-$((%d))-is-open || echo gate-$((%d))-holds\r", try, i, i))
		d.see(patience, fmt.Sprintf("gate-%d-%s", i, seen))
	}
	d.send("clear; git config --global user.name m; git config --global user.email m@m; echo two >>a; git commit -qam second && git log --format=%s | head -1\r")
	d.see(patience, "second")
	d.send("clear; echo three >b; " + callTools(
		`git__git_status {"path":"/workspace"}`,
		`git__git_add {"path":"/workspace","paths":["b"]}`,
		`git__git_log {"path":"/workspace","maxCount":2}`,
	) + " | tr -d '\\\\\\\\' | grep -o '\"currentBranch\":\"[a-z0-9/]*\\|first\\|second' | sort -u; git status -s\r")
	d.see(patience, `"currentBranch":"`+branch, "first", "second", "A  b")

	d.send("\x01/new mine --workspace " + repo + "\r")
	d.inTab(2, "mine$")
	d.send("clear; git log --format=%s; cat a; echo tree-$((2))\r")
	d.see(patience, "first", "one", "tree-2")
	if strings.Contains(d.text(), "second") {
		t.Errorf("one worktree has what was done in the other:\n%s", d.text())
	}
	d.send("\x01/close\ry")
	d.until("the branch of the empty worktree to go", patience, func(string) bool {
		return gitIn(t, repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/ironcurtain/") == branch
	})
	d.send("clear; git init -q in; git -C in config core.fsmonitor /tmp/evil; echo in-$((1))\r")
	d.see(patience, "in-1")
	d.quit()
	if !d.says("new: in/.git/config (git obeys its core.fsmonitor)") {
		t.Errorf("the end does not name the repository in the worktree:\n%s", d.text())
	}
	if got := gitIn(t, repo, "log", "--format=%s", branch); got != "second\nfirst" {
		t.Errorf("the person's branch has %q", got)
	}
	if got := gitIn(t, repo, "rev-parse", "HEAD"); got != first {
		t.Errorf("the person's own branch has moved to %s", got)
	}
	if !d.says("git -C "+repo+" merge "+branch, "sessions resume") {
		t.Errorf("the end says nothing of the work:\n%s", d.text())
	}
	if config, err := os.ReadFile(filepath.Join(d.stored(id).Workspace, ".git/config")); err != nil || strings.Contains(string(config), "evil") {
		t.Errorf("the worktree's configuration is %s, %v", config, err)
	}
	if _, err := os.Lstat(filepath.Join(d.stored(id).Workspace, ".git/hooks/pre-commit")); err == nil {
		t.Error("the worktree has the agent's hook")
	}
	d.traceless()

	d = drive(t, home, 110, 30, "demo", "--resume", string(id[:8]))
	d.see(patience, "mine$")
	d.send("clear; git status -s; git log -1 --format=%s\r")
	d.see(patience, "A  b", "second")
	d.quit()
}
