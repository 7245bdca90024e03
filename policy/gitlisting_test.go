package policy

import (
	"os"
	"testing"
)

// readingPolicy allows reading a directory, and escalates before a remote is contacted.
func readingPolicy(t *testing.T, w *world, more string) *Compiled {
	t.Helper()
	c, err := ParseCompiled("reading.json", []byte(`{"rules":[`+more+`
		{"name":"documents","if":{"paths":{"roles":["read-path"],"within":"`+w.outside+`/open"}},"then":"allow"},
		{"name":"network","if":{"server":["git"],"roles":["git-remote-url"]},"then":"escalate"},
		{"name":"reads","if":{"roles":["read-path"]},"then":"escalate"},
		{"name":"writes","if":{"roles":["write-path"]},"then":"escalate"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// remotesWorld has repositories inside and outside a directory that may be read.
func remotesWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	open := "outside/open/"
	remote := func(url string) string { return "[remote \"origin\"]\n\turl = " + url + "\n" }
	for name, config := range map[string]string{
		"repo": githubRemote, "ssh": remote("git@github.com:acme/widget.git"), "path": remote("/srv/widget.git"), "none": "",
		"own":      remote("gh:acme/widget") + "[url \"https://github.com/\"]\n\tinsteadOf = gh:\n",
		"password": remote("https://me:secret@github.com/acme/widget.git"),
		"token":    remote("https://secret@github.com/acme/widget.git"),
		"pushed":   githubRemote + "[remote \"origin\"]\n\tpushurl = https://me:secret@github.com/acme/widget.git\n",
		"query":    remote("https://github.com/acme/widget.git?access_token=secret"),
		"helper":   remote("ext::sh -c x"),
		"rewrites": remote("gh:acme/widget") + "[url \"https://secret@github.com/\"]\n\tinsteadOf = gh:\n",
		"user":     remote("corp:acme/widget"),
		"userpush": remote("https://corp.example/acme/widget"),
		"named":    "[remote \"https://me:secret@github.com\"]\n\tfetch = x\n",
	} {
		w.repository(open+name, config, map[string]string{"sub/a.txt": "a"})
	}
	w.write("home/.gitconfig", "[url \"https://secret@corp.example/\"]\n\tinsteadOf = corp:\n[url \"https://secret@corp.example/\"]\n\tpushInsteadOf = https://corp.example/\n")
	w.repository("outside/closed", githubRemote, nil)
	w.write(open+"elsewhere/.git", "gitdir: "+w.outside+"/closed/.git\n")
	w.repository(open+"shared", githubRemote, nil)
	w.write(open+"shared/.git/commondir", w.outside+"/closed/.git\n")
	w.must(os.Symlink(w.outside+"/closed", w.outside+"/open/link"))
	w.repository("outside", githubRemote, nil) // the readable directory lies below it and is no repository
	w.must(os.Mkdir(w.outside+"/open/plain", 0o700))
	return w
}

// Listing the remotes of a repository in a readable directory is allowed, unless the list
// would show a credential or more than the repository's own configuration.
func TestListingRemotes(t *testing.T) {
	w := remotesWorld(t)
	e := w.engine(func(c *Config) { c.Policy = readingPolicy(t, w, "") })
	call := func(e *Engine, dir, more string) Verdict {
		return e.Evaluate(Call{Server: "git", Tool: "git_remote", Arguments: []byte(`{"path":"` + dir + `"` + more + `}`)})
	}
	check := func(what string, v Verdict, want Decision) {
		t.Helper()
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", what, v.Decision, v.Rule, v.Reason, want)
		}
	}
	for name, want := range map[string]Decision{
		"repo": Allow, "repo/sub": Allow, "ssh": Allow, "path": Allow, "none": Allow, "own": Allow,
		"password": Escalate, "token": Escalate, "pushed": Escalate, "query": Escalate, "helper": Escalate,
		"rewrites": Escalate, "user": Escalate, "userpush": Escalate, "named": Escalate,
		"elsewhere": Escalate, "shared": Escalate, "link": Escalate, "plain": Escalate, "../closed": Escalate,
	} {
		dir := w.outside + "/open/" + name
		for _, mode := range []string{``, `,"mode":"list"`, `,"mode":"get-url","name":"origin"`} {
			check(name+mode, call(e, dir, mode), want)
		}
	}
	repo := w.outside + "/open/repo"
	for _, more := range []string{
		`,"mode":"remove","name":"origin"`, `,"mode":"rename","name":"origin","newName":"x"`, `,"mode":"add","name":"x","url":"https://github.com/a/b"`,
		`,"mode":"set-url","name":"origin","url":"https://github.com/a/b"`, `,"mode":"list","url":"https://github.com/a/b"`,
	} {
		check(more, call(e, repo, more), Escalate)
	}
	check("contacting", e.Evaluate(Call{Server: "git", Tool: "git_fetch", Arguments: []byte(`{"path":"` + repo + `"}`)}), Escalate)
	check("in the workspace", call(e, "/workspace/repo", ""), Allow)

	named := w.engine(func(c *Config) {
		c.Policy = readingPolicy(t, w, `{"name":"named","if":{"server":["git"],"tool":["git_remote"],"roles":["git-remote-url"]},"then":"escalate"},`)
	})
	check("a rule that names the tool", call(named, repo, ""), Escalate)
	denied := w.engine(func(c *Config) {
		c.Policy = readingPolicy(t, w, `{"name":"closed","if":{"roles":["git-remote-url"]},"then":"deny"},`)
	})
	check("a rule that denies", call(denied, repo, ""), Deny)
	x := e.Explain(Call{Server: "git", Tool: "git_remote", Arguments: []byte(`{"path":"` + repo + `"}`)})
	for _, role := range x.Roles {
		for _, r := range role.Rules {
			if r.Rule == "network" && r.Applied {
				t.Errorf("explained by a rule that says nothing: %+v", x)
			}
		}
	}
}
