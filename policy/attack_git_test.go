package policy

import "testing"

func TestGitAttacks(t *testing.T) {
	git := func(name, tool, args string, want Decision) attack { return attack{name, "git", tool, args, want} }
	attacks := []attack{
		git("push by default", "git_push", `{"path":"/workspace/repo"}`, Escalate),
		git("push to a helper", "git_push", `{"path":"/workspace/repo","remote":"ext::sh"}`, Deny),
		git("push to a descriptor", "git_push", `{"path":"/workspace/repo","remote":"fd::3"}`, Deny),
		git("push to a path", "git_push", `{"path":"/workspace/repo","remote":"/tmp/x"}`, Deny),
		git("push to a relative path", "git_push", `{"path":"/workspace/repo","remote":"../x"}`, Deny),
		git("push option", "git_push", `{"path":"/workspace/repo","remote":"--receive-pack=evil"}`, Deny),
		git("push branch option", "git_push", `{"path":"/workspace/repo","remote":"origin","branch":"--force"}`, Deny),
		git("push refspec", "git_push", `{"path":"/workspace/repo","remote":"origin","branch":"+main"}`, Deny),
		git("push refspec with colon", "git_push", `{"path":"/workspace/repo","remote":"origin","branch":"main:prod"}`, Deny),
		git("fetch refspec", "git_pull", `{"path":"/workspace/repo","remote":"origin","branch":"+x:main"}`, Deny),
		git("push every branch", "git_push", `{"path":"/workspace/repo","remote":"origin","branch":"refs/heads/*"}`, Deny),
		git("fetch by pattern", "git_pull", `{"path":"/workspace/repo","remote":"origin","branch":"ma*n"}`, Deny),
		git("push deletion", "git_push", `{"path":"/workspace/repo","remote":"origin","branch":":main"}`, Deny),
		git("clone a helper", "git_clone", `{"url":"ext::sh -c evil","path":"x"}`, Deny),
		git("clone a file", "git_clone", `{"url":"file:///etc","path":"x"}`, Deny),
		git("clone a path", "git_clone", `{"url":"/etc","path":"x"}`, Deny),
		git("clone an option", "git_clone", `{"url":"--upload-pack=evil","path":"x"}`, Deny),
		git("clone with ssh option", "git_clone", `{"url":"ssh://-oProxyCommand=evil/x","path":"x"}`, Deny),
		git("clone with scp option", "git_clone", `{"url":"-oProxyCommand=evil:x","path":"x"}`, Deny),
		git("clone with credentials", "git_clone", `{"url":"https://user:token@github.com/a/b","path":"x"}`, Deny),
		git("clone to outside", "git_clone", `{"url":"https://github.com/a/b","path":"{OUT}/x"}`, Escalate),
		git("clone an address", "git_clone", `{"url":"https://2130706433/a/b","path":"x"}`, Deny),
		git("clone with line feed", "git_clone", `{"url":"https://github.com/a\nb","path":"x"}`, Deny),
		git("set a helper as address", "git_remote", `{"mode":"set-url","name":"origin","url":"ext::sh","path":"/workspace/repo"}`, Deny),
		git("set another address", "git_remote", `{"mode":"set-url","name":"origin","url":"https://evil.example.org/x","path":"/workspace/repo"}`, Escalate),
		git("address in list mode", "git_remote", `{"mode":"list","url":"https://evil.example.org/x","path":"/workspace/repo"}`, Escalate),
		git("add an absolute path", "git_add", `{"path":"/workspace/repo","paths":["/etc/passwd"]}`, Deny),
		git("add above", "git_add", `{"path":"/workspace/repo","paths":["../../../x"]}`, Deny),
		git("add an option", "git_add", `{"path":"/workspace/repo","paths":["--pathspec-from-file=/etc/passwd"]}`, Deny),
		git("add by magic", "git_add", `{"path":"/workspace/repo","paths":[":(top,glob)**"]}`, Deny),
		git("add something else", "git_add", `{"path":"/workspace/repo","paths":["main.go",{"x":1}]}`, Deny),
		git("add a protected file", "git_add", `{"path":"/workspace","paths":[".env"]}`, Deny),
		git("add everything over a protected file", "git_add", `{"path":"/workspace/g/env","all":true}`, Deny),
		git("add everything from below", "git_add", `{"path":"/workspace/g/env/sub","all":true}`, Deny),
		git("add a directory over a protected file", "git_add", `{"path":"/workspace/g/env","paths":["."]}`, Deny),
		git("commit a directory over a protected file", "git_commit", `{"path":"/workspace/g/env","message":"x","filesToStage":["."]}`, Deny),
		git("add a protected file by pattern", "git_add", `{"path":"/workspace/g/env","paths":[".e*"]}`, Deny),
		git("add a protected file behind a backslash", "git_add", `{"path":"/workspace/g/env","paths":["\\.env"]}`, Deny),
		git("add a protected file by pattern and backslash", "git_add", `{"path":"/workspace/g/env","paths":[".\\e*"]}`, Deny),
		git("add a protected file by single characters", "git_add", `{"path":"/workspace/g/env","paths":["?[!a]n[uv]"]}`, Deny),
		git("add a protected file from above by pattern", "git_add", `{"path":"/workspace","paths":["./g/*/.ENV"]}`, Deny),
		git("stage a protected file by pattern", "git_commit", `{"path":"/workspace/g/env","message":"x","filesToStage":["a.txt","*"]}`, Deny),
		git("a protected file compared by pattern", "git_diff", `{"path":"/workspace/g/env","paths":["*env"]}`, Deny),
		git("add below a protected place by pattern", "git_add", `{"path":"/workspace/src","paths":["not-there/*"]}`, Deny),
		git("stash a protected file", "git_stash", `{"path":"/workspace/g/env","mode":"push","includeUntracked":true}`, Deny),
		git("diff with a protected file", "git_diff", `{"path":"/workspace/g/env","includeUntracked":true}`, Deny),
		git("a protected file as it was", "git_show", `{"path":"/workspace/g/env","object":"HEAD:.env"}`, Deny),
		git("a protected file as it was, from here", "git_show", `{"path":"/workspace/g/env","object":"HEAD~1:./.ENV"}`, Deny),
		git("a protected file compared", "git_diff", `{"path":"/workspace/g/env","source":"HEAD:.env","target":"HEAD:a.txt"}`, Deny),
		git("a file of a revision to check out", "git_checkout", `{"path":"/workspace/repo","target":"HEAD:main.go"}`, Deny),
		git("a reference in an object", "git_checkout", `{"path":"/workspace/repo","target":{"name":"--orphan"}}`, Deny),
		git("restore what the shell loads", "git_checkout", `{"path":"/workspace/repo","target":"evil","paths":[".envrc"]}`, Escalate),
		git("initial branch option", "git_init", `{"path":"/workspace/new","initialBranch":"--template=/tmp/x"}`, Deny),
		git("initial branch with a line", "git_init", `{"path":"/workspace/new","initialBranch":"main\nx"}`, Deny),
		git("clone depth with an option", "git_clone", `{"url":"https://github.com/a/b","path":"x","depth":"1 --upload-pack=evil"}`, Deny),
		git("diff outside", "git_diff", `{"path":"/workspace/repo","source":"/dev/null","target":"/etc/passwd"}`, Deny),
		git("diff option", "git_diff", `{"path":"/workspace/repo","target":"--output=/tmp/x"}`, Deny),
		git("diff no index", "git_diff", `{"path":"/workspace/repo","target":"--no-index"}`, Deny),
		git("diff above", "git_diff", `{"path":"/workspace/repo","target":"../../x"}`, Deny),
		git("log option", "git_log", `{"path":"/workspace/repo","branch":"--output=x"}`, Deny),
		git("log file outside", "git_log", `{"path":"/workspace/repo","filePath":"../../../../outside/secret.txt"}`, Deny),
		git("show option", "git_show", `{"path":"/workspace/repo","object":"--output=x"}`, Deny),
		git("blame outside", "git_blame", `{"path":"/workspace/repo","filePath":"/etc/passwd"}`, Deny),
		git("checkout option", "git_checkout", `{"path":"/workspace/repo","target":"--orphan"}`, Deny),
		git("rebase exec", "git_rebase", `{"path":"/workspace/repo","upstream":"--exec=evil"}`, Deny),
		git("reset option", "git_reset", `{"path":"/workspace/repo","target":"-q"}`, Deny),
		git("cherry-pick option", "git_cherry_pick", `{"path":"/workspace/repo","commits":["-n"]}`, Deny),
		git("tag option", "git_tag", `{"path":"/workspace/repo","mode":"create","tagName":"-F/etc/passwd"}`, Deny),
		git("worktree outside", "git_worktree", `{"path":"/workspace/repo","mode":"add","worktreePath":"{OUT}/wt"}`, Escalate),
		git("worktree outside, dry", "git_worktree", `{"path":"/workspace/repo","mode":"move","worktreePath":"wt","newPath":"{OUT}/wt","dryRun":true}`, Escalate),
		git("worktree listing outside", "git_worktree", `{"path":"{OUT}/repo","mode":"list"}`, Escalate),
		git("status outside", "git_status", `{"path":"{OUT}/repo"}`, Escalate),
		git("status of a link", "git_status", `{"path":"/workspace/link-out/repo"}`, Escalate),
		git("set the working directory outside", "git_set_working_dir", `{"path":"{OUT}/repo"}`, Escalate),
		git("initialize outside", "git_init", `{"path":"{OUT}/new"}`, Escalate),
		git("clean over protected files", "git_clean", `{"path":"/workspace","force":true}`, Deny),
		git("status in front of another repository", "git_status", `{"path":"/workspace/g/fsmonitor/in"}`, Deny),
		git("push in front of another repository", "git_push", `{"path":"/workspace/g/fsmonitor/in"}`, Deny),
		git("path as a list", "git_status", `{"path":["/workspace/repo"]}`, Deny),
	}
	for _, name := range []string{"include", "includeif", "broken", "fifoconfig"} {
		attacks = append(attacks, git(name, "git_status", `{"path":"/workspace/g/`+name+`"}`, Deny),
			git(name+" push", "git_push", `{"path":"/workspace/g/`+name+`"}`, Deny))
	}
	for _, name := range []string{"ext", "ext2", "file", "local", "optionurl", "sshoption", "vcs", "receivepack", "submodule", "modules"} {
		attacks = append(attacks, git(name+" push", "git_push", `{"path":"/workspace/g/`+name+`"}`, Deny),
			git(name+" fetch", "git_fetch", `{"path":"/workspace/g/`+name+`","remote":"origin"}`, Deny))
	}
	for _, name := range []string{"gitfile", "gitlink", "alternates", "commondir", "worktreeconfig", "fsmonitor", "hookspath", "filter", "sshcommand", "partialclone"} {
		attacks = append(attacks, git(name, "git_status", `{"path":"/workspace/g/`+name+`"}`, Escalate))
	}
	attacks = append(attacks, git("address as remote of the branch", "git_push", `{"path":"/workspace/g/branchurl"}`, ""),
		git("this repository as remote of the branch", "git_push", `{"path":"/workspace/g/branchdot"}`, Deny))
	attacks = append(attacks, git("hooks", "git_commit", `{"path":"/workspace/g/hooks","message":"x"}`, Escalate))
	judgeAll(t, attacks)
}

// TestRemoteIdentity allows pushes to one host only, and tries every way of sending a
// push to another host.
func TestRemoteIdentity(t *testing.T) {
	w := newWorld(t)
	c, err := ParseCompiled("github.json", []byte(`{"rules":[{"name":"allow-acme","if":{"server":["git"],
		"domains":{"roles":["git-remote-url"],"allowed":["github.com/Acme/widget"]}},"then":"allow"},
		{"name":"allow-without-domain","if":{"server":["git"]},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e := w.engine(func(config *Config) { config.Policy = c })
	for _, tc := range []struct {
		repo, tool, args string
		want             Decision
	}{
		{"repo", "git_push", ``, Allow},
		{"repo", "git_push", `,"remote":"origin"`, Allow},
		{"repo", "git_fetch", `,"remote":"origin"`, Allow},
		{"repo", "git_push", `,"remote":"elsewhere"`, Deny},
		{"g/pushurl", "git_fetch", ``, Allow},
		{"g/pushurl", "git_push", ``, Deny},
		{"g/caps", "git_push", ``, Deny},
		{"g/two-urls", "git_push", ``, Deny},
		{"g/insteadof", "git_fetch", ``, Deny},
		{"g/insteadof", "git_push", ``, Deny},
		{"g/pushinsteadof", "git_fetch", ``, Allow},
		{"g/pushinsteadof", "git_push", ``, Deny},
		{"g/pushremote", "git_push", ``, Deny},
		{"g/pushremote", "git_fetch", ``, Allow},
		{"g/pushdefault", "git_push", ``, Deny},
		{"g/pushdefault", "git_push", `,"remote":"origin"`, Allow},
		{"g/urlname", "git_push", ``, Allow},
		{"g/urlname", "git_push", `,"remote":"https://github.com/acme/widget"`, Deny},
		{"g/urlname", "git_fetch", `,"remote":"https://github.com/acme/widget"`, Deny},
		{"g/mirror", "git_fetch", ``, Allow},
		{"g/mirror", "git_push", ``, Deny},
		{"g/forced", "git_push", ``, Deny},
		{"g/matching", "git_push", `,"remote":"origin"`, Deny},
		{"g/mirror2", "git_push", ``, Deny},
		{"g/followtags", "git_push", `,"branch":"main"`, Deny},
		{"g/followtags", "git_fetch", ``, Allow},
		{"g/pushall", "git_push", ``, Deny},
		{"g/upstream", "git_push", ``, Deny},
		{"g/upstream", "git_push", `,"branch":"main"`, Deny},
		{"g/upstream", "git_push", `,"branch":"other"`, Allow},
		{"g/upstream", "git_push", `,"branch":"main","remoteBranch":"main"`, Allow},
		{"g/upstream", "git_fetch", ``, Allow},
		{"g/pushelsewhere", "git_push", `,"branch":"main"`, Deny},
		{"g/review", "git_push", ``, Allow},
		{"g/numbered", "git_push", ``, Deny},
		{"g/unclear", "git_push", ``, Deny},
		{"g/group", "git_fetch", `,"remote":"both"`, Deny},
		{"g/bundle", "git_fetch", ``, Escalate},
		{"g/ownca", "git_push", ``, Escalate},
	} {
		v := e.Evaluate(Call{Server: "git", Tool: tc.tool, Arguments: []byte(`{"path":"/workspace/` + tc.repo + `"` + tc.args + `}`)})
		if v.Decision != tc.want {
			t.Errorf("%s %s %s: %s by %s (%s), want %s\n%v", tc.repo, tc.tool, tc.args, v.Decision, v.Rule, v.Reason, tc.want, v.Trace)
		}
		if v.Decision == Allow {
			fixedPoint(t, e, "git", tc.tool, v)
		}
	}
}

// TestUserRewriting rewrites addresses by the person's own git configuration.
func TestUserRewriting(t *testing.T) {
	w := newWorld(t)
	w.write("home/.gitconfig", "[url \"git@evil.example.org:\"]\n\tinsteadOf = https://github.com/\n")
	e := w.engine()
	v := e.Evaluate(Call{Server: "git", Tool: "git_push", Arguments: []byte(`{"path":"/workspace/repo"}`)})
	if v.Decision != Escalate {
		t.Fatalf("%s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
	if got := v.Trace[len(v.Trace)-1].Value; got != "git@evil.example.org:acme/widget.git" {
		t.Errorf("judged %q", got)
	}
}

// TestFixedGitVariables: a repository cannot set variables that the server itself sets.
func TestFixedGitVariables(t *testing.T) {
	w := newWorld(t)
	e := w.engine(func(c *Config) { c.GitFixed = []string{"core.hooksPath", "core.fsmonitor"} })
	for repo, want := range map[string]Decision{
		"hooks": Allow, "hookspath": Allow, "fsmonitor": Allow, "sshcommand": Escalate, "filter": Escalate,
	} {
		v := e.Evaluate(Call{Server: "git", Tool: "git_commit", Arguments: []byte(`{"path":"/workspace/g/` + repo + `","message":"x"}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", repo, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// TestAttachedRepository has a sandbox whose repository the host attached.
func TestAttachedRepository(t *testing.T) {
	w := newWorld(t)
	e := w.engine(func(c *Config) { c.Attached = []string{w.outside + "/repo/.git"} })
	for args, want := range map[string]Decision{
		`{"path":"/workspace/g/gitfile"}`:        Allow,
		`{"path":"/workspace/g/commondir"}`:      Allow,
		`{"path":"/workspace/g/alternates"}`:     Allow,
		`{"path":"{OUT}/repo"}`:                  Escalate, // its own files are still outside
		`{"path":"/workspace/g/worktreeconfig"}`: Escalate,
	} {
		if v := e.Evaluate(Call{Server: "git", Tool: "git_status", Arguments: []byte(w.expand(args))}); v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", args, v.Decision, v.Rule, v.Reason, want)
		}
	}
	file := Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(w.expand(`{"path":"{OUT}/repo/.git/config"}`))}
	if v := e.Evaluate(file); v.Decision != Escalate {
		t.Errorf("reading it as a file: %s by %s", v.Decision, v.Rule)
	}
}

// TestRemoteWithoutRepository has a tool that does not name its repository, so the engine
// cannot know how the repository's configuration rewrites an address.
func TestRemoteWithoutRepository(t *testing.T) {
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{"git":{"tools":[{"toolName":"git_push","args":{"where":["read-path"],"remote":["git-remote-url"]}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	e := newWorld(t).engine(func(c *Config) { c.Annotations = a })
	v := e.Evaluate(Call{Server: "git", Tool: "git_push", Arguments: []byte(`{"where":"/workspace/g/insteadof","remote":"https://github.com/acme/widget"}`)})
	if v.Decision != Deny || v.Rule != RuleGitRepository {
		t.Errorf("%s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
}
