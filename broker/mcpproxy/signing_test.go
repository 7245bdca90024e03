package mcpproxy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// signers are the ways in which a person can sign: what is set in their configuration of
// git, by what the key is named, and how it is made.
var signers = map[string]func(t *testing.T, home string) (settings [][2]string, words string){
	"openpgp": func(t *testing.T, home string) ([][2]string, string) {
		t.Helper()
		t.Setenv("GNUPGHOME", filepath.Join(home, ".gnupg"))
		host(t, "mkdir", "-m", "700", filepath.Join(home, ".gnupg"))
		host(t, "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-gen-key", "Person <me@example.com>", "ed25519", "sign", "never")
		t.Cleanup(func() {
			if err := exec.Command("gpgconf", "--kill", "all").Run(); err != nil {
				t.Error(err)
			}
		})
		return nil, "openpgp key of Person <me@example.com>"
	},
	"ssh": func(t *testing.T, home string) ([][2]string, string) {
		t.Helper()
		key := filepath.Join(home, ".ssh", "sign")
		if err := os.Mkdir(filepath.Dir(key), 0o700); err != nil {
			t.Fatal(err)
		}
		host(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "my laptop", "-f", key)
		allowed := filepath.Join(home, "signers")
		if err := os.WriteFile(allowed, []byte("me@example.com "+host(t, "cat", key+".pub")), 0o600); err != nil {
			t.Fatal(err)
		}
		return [][2]string{{"gpg.format", "ssh"}, {"user.signingKey", key}, {"gpg.ssh.allowedSignersFile", allowed}}, "(my laptop)"
	},
}

// host runs a program of the host, which must succeed.
func host(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

// commitsOfTools says which commits the git server's tools make.
var commitsOfTools = map[string]Commits{
	"git_commit": StagedCommits, "git_merge": MergeCommit, "git_cherry_pick": PickedCommits, "git_rebase": RebasedCommits, "git_pull": OtherCommits,
}

// signingHarness is a harness with the real git server, and a person who signs commits.
func signingHarness(t *testing.T, kind string, change func(*Config)) (r *harness, words string, told func() []string) {
	t.Helper()
	staged := gitOnStages(t)
	var mu sync.Mutex
	var details []string
	r = newHarness(t, func(c *Config) {
		staged(c)
		env := maps.Clone(c.Servers[1].Env)
		maps.Copy(env, map[string]string{
			"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "commit.gpgSign", "GIT_CONFIG_VALUE_0": "false",
			"GIT_CONFIG_KEY_1": "core.hooksPath", "GIT_CONFIG_VALUE_1": "/dev/null",
		})
		c.Servers[1].Env = env
		c.Servers[1].Staging.Seen = []string{filepath.Join(filepath.Dir(c.Servers[1].Staging.Open[0]), ".gitconfig")}
		c.Preview = &preview.Previewer{UserHome: filepath.Dir(c.Servers[0].Staging.Open[0]), Command: func(_, tool string) string { return strings.TrimPrefix(tool, "git_") }}
		c.Commits = func(_, tool string) Commits { return commitsOfTools[tool] }
		c.Activity = func(a Activity) {
			if a.Kind == CommitUnsigned {
				mu.Lock()
				defer mu.Unlock()
				details = append(details, a.Detail)
			}
		}
		if change != nil {
			change(c)
		}
	})
	t.Setenv("HOME", r.dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(r.dir, ".config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	settings := [][2]string{{"commit.gpgSign", "true"}, {"user.name", "Person"}, {"user.email", "me@example.com"}, {"init.defaultBranch", "main"}}
	more, words := signers[kind](t, r.dir)
	for _, s := range append(settings, more...) {
		host(t, "git", "config", "--global", s[0], s[1])
	}
	host(t, "git", "init", "-q", r.work)
	return r, words, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), details...)
	}
}

// stageFile changes a file of the workspace's repository and stages it.
func (r *harness) stageFile(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host(t, "git", "-C", dir, "add", "file")
}

// A commit of the agent is shown with the key, signed after the approval, and its new id
// reaches the agent.
func TestAnApprovedCommitIsSigned(t *testing.T) {
	for kind := range signers {
		t.Run(kind, func(t *testing.T) {
			r, words, told := signingHarness(t, kind, nil)
			a := r.agent()
			commit := func(id, dir, arguments string) {
				t.Helper()
				r.stageFile(t, dir, "text "+id)
				a.send(callLine(id, "git__git_commit", `{"path":"`+dir+`",`+arguments+`}`))
				item := r.pending(1)[0]
				if item.Rule != policy.RuleSignedCommit || !strings.Contains(item.Reason, words) || len(item.Offers) == 0 {
					t.Errorf("the panel shows %s: %s, with %d offers", item.Rule, item.Reason, len(item.Offers))
				}
				if e := item.Effect; e == nil || e.Kind != preview.Commit || len(e.Warnings()) > 0 {
					t.Errorf("the panel shows %+v", e)
				}
				r.approve(1)
				m := a.answerTo(id)
				if m.isError() {
					t.Fatalf("commit: %s", m.Result)
				}
				head := strings.TrimSpace(host(t, "git", "-C", dir, "rev-parse", "HEAD"))
				if !strings.Contains(string(m.Result), " is "+head+" now") || !strings.Contains(string(m.Result), `"`+head+`"`) && !strings.Contains(string(m.Result), `\"`+head+`\"`) {
					t.Errorf("HEAD is %s, and the agent was told %s", head, m.Result)
				}
				host(t, "git", "-C", dir, "verify-commit", "HEAD")
				host(t, "git", "-C", dir, "fsck", "--strict")
			}
			commit("1", r.work, `"message":"first"`)
			commit("2", r.work, `"message":"second\n\n\nwith a body   \n"`)
			commit("3", r.work, `"message":"third","amend":true`)
			commit("4", r.work, `"message":"by another","author":{"name":"Other","email":"o@example.com"}`)
			commit("5", r.work, `"message":"amended, too","amend":true,"filesToStage":["file"]`)
			host(t, "git", "-C", r.work, "checkout", "-q", "--detach")
			commit("6", r.work, `"message":"detached"`)
			// in a linked worktree
			linked := filepath.Join(r.work, "linked")
			host(t, "git", "-C", r.work, "worktree", "add", "-q", "-b", "other", linked)
			commit("7", linked, `"message":"linked"`)
			if n := strings.Count(host(t, "git", "-C", linked, "log", "--format=%G? %s"), "G "); n != 5 {
				t.Errorf("%d signed commits", n)
			}
			if kind == "ssh" { // in a repository that the running server does not see
				outside := filepath.Join(r.outside, "repo")
				host(t, "git", "init", "-q", outside)
				commit("8", outside, `"message":"outside"`)
			}
			if all := told(); len(all) > 0 {
				t.Errorf("the person was told %q", all)
			}
			signed := 0
			for _, end := range r.endings(7) {
				if strings.Contains(string(end.Raw), "signed: ") {
					signed++
				}
			}
			if signed < 7 {
				t.Errorf("%d endings say that the commit was signed", signed)
			}
		})
	}
}

// A grant covers commits that are signed, in one repository, whatever their messages.
func TestAGrantCoversSignedCommits(t *testing.T) {
	grants := grant.New(nil)
	r, _, told := signingHarness(t, "ssh", func(c *Config) { c.Grants = grants })
	a := r.agent()
	r.stageFile(t, r.work, "one")
	a.send(callLine("1", "git__git_commit", `{"path":"/workspace","message":"one"}`))
	r.remember(grants, grant.File, time.Minute)
	if m := a.answerTo("1"); m.isError() {
		t.Fatalf("commit: %s", m.Result)
	}
	r.stageFile(t, r.work, "two")
	if m := a.call("2", "git__git_commit", `{"path":"/workspace","message":"two"}`); m.isError() {
		t.Fatalf("commit: %s", m.Result)
	}
	host(t, "git", "-C", r.work, "verify-commit", "HEAD", "HEAD^")
	if all := told(); len(all) > 0 {
		t.Errorf("the person was told %q", all)
	}
}

// branches makes a repository whose branches "apart" and "against" are beside main. The second
// one changes the same line as main.
func (r *harness) branches(t *testing.T) (git func(argv ...string) string) {
	t.Helper()
	git = func(argv ...string) string {
		t.Helper()
		return strings.TrimSpace(host(t, append([]string{"git", "-C", r.work, "-c", "commit.gpgSign=false"}, argv...)...))
	}
	r.stageFile(t, r.work, "one\n")
	git("commit", "-qm", "first")
	git("branch", "-M", "main")
	for _, branch := range []string{"apart", "against"} {
		git("checkout", "-qb", branch, "main")
		name := map[string]string{"apart": "other", "against": "file"}[branch]
		if err := os.WriteFile(filepath.Join(r.work, name), []byte(branch+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", name)
		git("commit", "-qm", branch)
	}
	git("checkout", "-q", "main")
	r.stageFile(t, r.work, "two\n")
	git("commit", "-qm", "second")
	return git
}

// Commits that git makes of others are signed after the approval, if the host can compare
// them; where it cannot, the call asks because of that.
func TestCommitsOfOthersAreSigned(t *testing.T) {
	r, words, told := signingHarness(t, "ssh", nil)
	git := r.branches(t)
	a := r.agent()
	start := git("rev-parse", "main")
	for id, c := range map[string]struct {
		tool, arguments string
		signed          int
	}{
		"merge":        {"git__git_merge", `"branch":"apart","noFastForward":true`, 1},
		"message":      {"git__git_merge", `"branch":"apart","message":"mine"`, 1},
		"pick":         {"git__git_cherry_pick", `"commits":["apart"],"signoff":true`, 1},
		"rebase":       {"git__git_rebase", `"upstream":"apart"`, 1},
		"fast-forward": {"git__git_merge", `"branch":"ahead"`, 0},
	} {
		git("checkout", "-q", "-f", "main")
		git("reset", "-q", "--hard", start)
		git("branch", "-f", "ahead", git("commit-tree", "-m", "ahead", "-p", "main", "main^{tree}"))
		a.send(callLine(`"`+id+`"`, c.tool, `{"path":"/workspace",`+c.arguments+`}`))
		if item := r.pending(1)[0]; item.Rule != policy.RuleSignedCommit || !strings.Contains(item.Reason, words) {
			t.Errorf("%s: the panel shows %s: %s", id, item.Rule, item.Reason)
		}
		r.approve(1)
		m := a.answerTo(`"` + id + `"`)
		head := git("rev-parse", "HEAD")
		if m.isError() || strings.Contains(string(m.Result), "NOT SIGNED") || strings.Contains(string(m.Result), " is "+head+" now") != (c.signed == 1) {
			t.Errorf("%s: HEAD is %s, and the agent was told %s", id, head, m.Result)
		}
		if c.signed == 1 {
			git("verify-commit", "HEAD")
		}
		git("fsck", "--strict")
		if out := git("status", "--porcelain"); out != "" {
			t.Errorf("%s: the work tree differs: %s", id, out)
		}
	}
	if all := told(); len(all) > 0 {
		t.Errorf("the person was told %q", all)
	}
	git("remote", "add", "origin", "https://git.example.com/repo.git")
	for id, call := range map[string]string{
		"ours": `git__git_merge {"path":"/workspace","branch":"apart","strategy":"ours"}`,
		"pull": `git__git_pull {"path":"/workspace","remote":"origin"}`,
	} {
		tool, arguments, _ := strings.Cut(call, " ")
		a.send(callLine(`"`+id+`"`, tool, arguments))
		if item := r.pending(1)[0]; !strings.Contains(item.Reason, "are not signed") {
			t.Errorf("%s: the panel shows %s: %s", id, item.Rule, item.Reason)
		}
		r.decide(1, false)
		a.answerTo(`"` + id + `"`)
	}
}

// A merge whose result the repository's attributes change stays unsigned, and everybody
// learns it.
func TestAMergeThatDiffersIsNotSigned(t *testing.T) {
	r, _, told := signingHarness(t, "ssh", nil)
	git := r.branches(t)
	if err := os.WriteFile(filepath.Join(r.work, ".git", "info", "attributes"), []byte("file merge=union\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := r.agent()
	a.send(callLine("1", "git__git_merge", `{"path":"/workspace","branch":"against"}`))
	r.approve(1)
	m := a.answerTo("1")
	if all := told(); m.isError() || len(all) != 1 || !strings.Contains(all[0], "no conflicts") || !strings.Contains(string(m.Result), "NOT SIGNED") {
		t.Errorf("the agent was told %s, the person %q", m.Result, all)
	}
	if err := exec.CommandContext(t.Context(), "git", "-C", r.work, "verify-commit", "HEAD").Run(); err == nil {
		t.Error("it is signed")
	}
	git("fsck", "--strict")
}

// What git only stages of other commits is signed when git_commit makes the commit, also at
// the end of a merge with conflicts.
func TestCommitsOfOthersAreSignedWhenStaged(t *testing.T) {
	r, words, told := signingHarness(t, "ssh", nil)
	git := r.branches(t)
	a := r.agent()
	commit := func(id string, parents int) {
		t.Helper()
		a.send(callLine(id, "git__git_commit", `{"path":"/workspace","message":"by `+id+`"}`))
		if item := r.pending(1)[0]; item.Rule != policy.RuleSignedCommit || !strings.Contains(item.Reason, words) {
			t.Errorf("the panel shows %s: %s", item.Rule, item.Reason)
		}
		r.approve(1)
		if m := a.answerTo(id); m.isError() {
			t.Fatalf("commit: %s", m.Result)
		}
		git("verify-commit", "HEAD")
		if got := len(strings.Fields(git("rev-list", "--parents", "-1", "HEAD"))) - 1; got != parents {
			t.Errorf("commit %s has %d parents", id, got)
		}
	}
	for id, call := range map[string]string{
		"3": `git__git_merge {"path":"/workspace","branch":"apart","squash":true}`,
		"4": `git__git_cherry_pick {"path":"/workspace","commits":["apart"],"noCommit":true}`,
	} {
		tool, arguments, _ := strings.Cut(call, " ")
		a.send(callLine(id, tool, arguments))
		if m := a.answerTo(id); m.isError() {
			t.Fatalf("%s: %s", call, m.Result)
		}
		commit(id+"0", 1)
		git("reset", "-q", "--hard", "HEAD^")
	}
	a.send(callLine("5", "git__git_merge", `{"path":"/workspace","branch":"against"}`))
	r.approve(1)
	a.answerTo("5") // with a conflict
	if err := os.WriteFile(filepath.Join(r.work, "file"), []byte("both\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "file")
	commit("6", 2)
	if all := told(); len(all) > 0 {
		t.Errorf("the person was told %q", all)
	}
}

// A repository's own configuration decides neither whether and with which key is signed, nor
// which programs run for it. Where it changes the commit, the commit stays unsigned.
func TestTheRepositorySettingsDoNotSign(t *testing.T) {
	r, words, told := signingHarness(t, "ssh", nil)
	ran := filepath.Join(r.work, "ran")
	program := filepath.Join(r.work, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho ran >>"+ran+"\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	hooks := filepath.Join(r.work, "hooks")
	if err := os.Mkdir(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reference-transaction", "pre-commit", "post-commit", "commit-msg"} {
		if err := os.Symlink(program, filepath.Join(hooks, name)); err != nil {
			t.Fatal(err)
		}
	}
	stray := filepath.Join(r.work, "stray")
	host(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "stray", "-f", stray)
	a := r.agent()
	commit := func(id string) received {
		t.Helper()
		r.stageFile(t, r.work, id)
		a.send(callLine(id, "git__git_commit", `{"path":"/workspace","message":"x"}`))
		if item := r.pending(1)[0]; !strings.Contains(item.Reason, words) && item.Rule == policy.RuleSignedCommit {
			t.Errorf("the panel shows %s: %s", item.Rule, item.Reason)
		}
		r.approve(1)
		return a.answerTo(id)
	}
	for name, value := range map[string]string{
		"gpg.program": program, "gpg.ssh.program": program, "gpg.openpgp.program": program, "gpg.format": "openpgp", "core.hooksPath": hooks, "user.signingKey": stray,
	} {
		host(t, "git", "-C", r.work, "config", name, value)
	}
	if m := commit("1"); m.isError() {
		t.Fatalf("commit: %s", m.Result)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
	for _, name := range []string{"gpg.program", "gpg.ssh.program", "gpg.openpgp.program", "gpg.format", "core.hooksPath", "user.signingKey"} {
		host(t, "git", "-C", r.work, "config", "--unset", name)
	}
	host(t, "git", "-C", r.work, "verify-commit", "HEAD")
	if all := told(); len(all) > 0 {
		t.Errorf("the person was told %q", all)
	}
	// Another identity is not signed.
	host(t, "git", "-C", r.work, "config", "user.email", "boss@example.com")
	m := commit("2")
	if all := told(); m.isError() || len(all) != 1 || !strings.Contains(all[0], "boss@example.com") || !strings.Contains(string(m.Result), "NOT SIGNED") {
		t.Errorf("the agent was told %s, the person %q", m.Result, all)
	}
	if err := exec.CommandContext(t.Context(), "git", "-C", r.work, "verify-commit", "HEAD").Run(); err == nil {
		t.Error("a commit of another identity is signed")
	}
}

// A signer that fails leaves the commit unsigned, and everybody learns it.
func TestASignerThatFails(t *testing.T) {
	r, _, told := signingHarness(t, "ssh", nil)
	r.stageFile(t, r.work, "one")
	if err := os.Remove(filepath.Join(r.dir, ".ssh", "sign")); err != nil {
		t.Fatal(err)
	}
	a := r.agent()
	a.send(callLine("1", "git__git_commit", `{"path":"/workspace","message":"x"}`))
	r.approve(1)
	m := a.answerTo("1")
	all := told()
	if m.isError() || len(all) != 1 || !strings.Contains(all[0], "amend -S") || !strings.Contains(string(m.Result), "NOT SIGNED") {
		t.Errorf("the agent was told %s, the person %q", m.Result, all)
	}
	if subject := host(t, "git", "-C", r.work, "log", "-1", "--format=%s"); subject != "x\n" {
		t.Errorf("the commit is %q", subject)
	}
	if end := r.endings(1)[0]; !strings.Contains(string(end.Raw), "not signed") {
		t.Errorf("the audit says %s", end.Raw)
	}
	// A format that is not supported asks nobody and says the same.
	host(t, "git", "config", "--global", "gpg.format", "x509")
	r.stageFile(t, r.work, "two")
	m = a.call("2", "git__git_commit", `{"path":"/workspace","message":"x"}`)
	if all := told(); m.isError() || len(all) != 2 || !strings.Contains(all[1], "x509") || !strings.Contains(string(m.Result), "NOT SIGNED") {
		t.Errorf("the agent was told %s, the person %q", m.Result, all)
	}
}
