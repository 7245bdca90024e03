package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPlantedBareRepository makes a repository from single files that look harmless. The
// call that writes the last file, which makes git obey the others, escalates.
func TestPlantedBareRepository(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for _, tc := range []struct {
		there      []string
		tool, last string
		want       Decision
	}{
		{[]string{"objects/", "refs/", "config"}, "write_file", "HEAD", Escalate},
		{[]string{"objects/", "refs/", "config"}, "write_file", "head", Escalate},
		{[]string{"objects/", "refs/", "hooks/"}, "write_file", "HEAD", Escalate},
		{[]string{"objects/", "refs/", "config"}, "move_file", "HEAD", Escalate},
		{[]string{"HEAD", "refs/", "config"}, "create_directory", "objects", Escalate},
		{[]string{"HEAD", "objects/", "config"}, "create_directory", "refs/heads", Escalate},
		{[]string{"HEAD", "objects/", "config"}, "write_file", "refs/heads/main", Escalate},
		{[]string{"HEAD", "config"}, "write_file", "commondir", Escalate},
		{[]string{"commondir"}, "write_file", "HEAD", Escalate},
		{[]string{"HEAD", "objects/", "refs/"}, "write_file", "config", Escalate},
		{[]string{"HEAD", "objects/", "refs/"}, "write_file", "Config", Escalate},
		{[]string{"HEAD", "objects/", "refs/"}, "write_file", "hooks/post-update", Escalate},
		{[]string{"objects/", "config"}, "write_file", "HEAD", Allow},
		{[]string{"objects/", "refs/"}, "write_file", "HEAD", Allow}, // nothing to obey yet
		{[]string{"HEAD", "objects/", "refs/", "config"}, "write_file", "refs/heads/main", Allow},
		{[]string{"HEAD", "objects/", "refs/", "config"}, "write_file", "src/config", Allow},
		{nil, "write_file", "config", Allow},
		{nil, "write_file", "hooks/useThing.ts", Allow},
		{[]string{"refs/"}, "write_file", "objects/Ball.cs", Allow},
	} {
		dir := filepath.Join(w.sandbox, "plant")
		w.must(os.RemoveAll(dir))
		for _, name := range tc.there {
			if name[len(name)-1] == '/' {
				w.must(os.MkdirAll(filepath.Join(dir, name), 0o700))
			} else {
				w.write("iron/sessions/s1/sandbox/plant/"+name, "x")
			}
		}
		args := `{"path":"plant/` + tc.last + `"}`
		switch tc.tool {
		case "write_file":
			args = `{"path":"plant/` + tc.last + `","content":"x"}`
		case "move_file":
			args = `{"source":"a.txt","destination":"plant/` + tc.last + `"}`
		}
		v := e.Evaluate(Call{Server: "filesystem", Tool: tc.tool, Arguments: []byte(args)})
		if v.Decision != tc.want || tc.want == Escalate && v.Rule != RuleHostExecution {
			t.Errorf("%v, then %s %s: %s by %s (%s), want %s", tc.there, tc.tool, tc.last, v.Decision, v.Rule, v.Reason, tc.want)
		}
	}
}

// TestRepositoriesWithin has submodules that configure programs, point outside or cannot
// be read. Git reads submodules even for a status.
func TestRepositoriesWithin(t *testing.T) {
	w := newWorld(t)
	for name, config := range map[string]string{
		"plain": githubRemote, "fsmonitor": "[core]\n\tfsmonitor = ./evil.sh\n", "filter": "[filter \"x\"]\n\tclean = evil\n",
		"include": "[include]\n\tpath = ../evil\n", "away": "[core]\n\tworktree = " + w.outside + "\n",
	} {
		box := "iron/sessions/s1/sandbox/n/" + name
		w.repository(box, githubRemote, map[string]string{"lib/.git": "gitdir: ../.git/modules/lib\n"})
		for _, file := range []string{"HEAD", "objects/x", "refs/x"} {
			w.write(box+"/.git/modules/lib/"+file, "ref: refs/heads/main\n")
		}
		w.write(box+"/.git/modules/lib/config", config)
	}
	e := w.engine()
	for name, want := range map[string]Decision{"plain": Allow, "fsmonitor": Escalate, "filter": Escalate, "include": Deny, "away": Escalate} {
		for tool, rest := range map[string]string{"git_status": ``, "git_diff": ``, "git_commit": `,"message":"x"`} {
			v := e.Evaluate(Call{Server: "git", Tool: tool, Arguments: []byte(`{"path":"/workspace/n/` + name + `"` + rest + `}`)})
			if v.Decision != want {
				t.Errorf("%s %s: %s by %s (%s), want %s", name, tool, v.Decision, v.Rule, v.Reason, want)
			}
		}
	}
}

// TestInitOverWhatIsThere: git init in a directory that has a repository completes that
// repository, even if its files lie elsewhere.
func TestInitOverWhatIsThere(t *testing.T) {
	w := newWorld(t)
	box := w.sandbox + "/i/"
	w.write("iron/sessions/s1/sandbox/i/broken/.git", "not a repository\n")
	w.must(os.MkdirAll(box+"half/.git", 0o700))
	w.must(os.Symlink(w.outside, box+"half/.git/objects"))
	w.must(os.MkdirAll(box+"link", 0o700))
	w.must(os.Symlink(w.outside, box+"link/.git"))
	w.must(os.MkdirAll(box+"dangling", 0o700))
	w.must(os.Symlink(w.outside+"/new", box+"dangling/.git"))
	e := w.engine()
	for dir, want := range map[string]Decision{
		"g/gitfile": Escalate, "g/gitlink": Escalate, "i/broken": Deny, "i/half": Deny, "i/link": Deny, "i/dangling": Deny,
		"repo": Allow, "repo/new": Allow, "fresh": Allow,
	} {
		v := e.Evaluate(Call{Server: "git", Tool: "git_init", Arguments: []byte(`{"path":"/workspace/` + dir + `"}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", dir, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// TestCloneWithSubmodules clones from an allowed host. The submodules may come from any
// other host.
func TestCloneWithSubmodules(t *testing.T) {
	c, err := ParseCompiled("p.json", []byte(`{"rules":[{"name":"allow-acme","if":{"server":["git"],"domains":{"roles":["git-remote-url"],"allowed":["github.com/acme/widget"]}},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{"git":{"tools":[{"toolName":"git_clone","args":{"url":["git-remote-url"],"localPath":["write-path"],"recurseSubmodules":["none"],"recursive":["none"]}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	e := newWorld(t).engine(func(config *Config) { config.Policy, config.Annotations = c, a })
	for rest, want := range map[string]Decision{
		``: Allow, `,"recurseSubmodules":false`: Allow, `,"recurseSubmodules":true`: Escalate, `,"recurseSubmodules":"yes"`: Escalate, `,"recursive":1`: Escalate,
	} {
		v := e.Evaluate(Call{Server: "git", Tool: "git_clone", Arguments: []byte(`{"url":"https://github.com/acme/widget","localPath":"cl"` + rest + `}`)})
		if v.Decision != want || want == Escalate && !v.Structural {
			t.Errorf("%s: %s by %s (%s), want %s", rest, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// TestInterruptedWork has repositories with an interrupted operation that git would
// continue.
func TestInterruptedWork(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for i, tc := range []struct {
		file, content string
		want          Decision // for the call that continues
	}{
		{"rebase-merge/git-rebase-todo", "pick 0123 a\nexec touch /tmp/x\n", Escalate},
		{"rebase-merge/git-rebase-todo", "  x\ttouch /tmp/x", Escalate},
		{"rebase-merge/git-rebase-todo", "exec\n", Escalate},
		{"rebase-merge/git-rebase-todo", "pick 0123 exec x\n# exec x\nfixup 4567 x\nbreak\n", Allow},
		{"rebase-merge/strategy", "ort\n", Allow},
		{"rebase-merge/strategy", "/../x\n", Escalate},
		{"sequencer/opts", "[options]\n\tstrategy = recursive\n\tedit = true\n", Allow},
		{"sequencer/opts", "[options]\n\tstrategy = /../x\n", Escalate},
		{"sequencer/opts", "[options\n", Deny},
	} {
		dir := fmt.Sprintf("iron/sessions/s1/sandbox/left%d", i)
		w.repository(dir, githubRemote, nil)
		w.write(dir+"/.git/"+tc.file, tc.content)
		path := fmt.Sprintf(`{"path":"left%d"`, i)
		for tool, args := range map[string]string{
			"git_rebase": `,"mode":"continue"}`, "git_cherry_pick": `,"commits":["main"],"continueOperation":true}`,
		} {
			v := e.Evaluate(Call{Server: "git", Tool: tool, Arguments: []byte(path + args)})
			if v.Decision != tc.want || tc.want == Escalate && v.Rule != RuleHostExecution {
				t.Errorf("%s %q, then %s: %s by %s (%s), want %s", tc.file, tc.content, tool, v.Decision, v.Rule, v.Reason, tc.want)
			}
		}
		if v := e.Evaluate(Call{Server: "git", Tool: "git_status", Arguments: []byte(path + "}")}); v.Decision != Allow {
			t.Errorf("%s, status: %s by %s (%s)", tc.file, v.Decision, v.Rule, v.Reason)
		}
	}
}

// TestBorrowedObjects has alternate object stores, named in every way that git reads.
func TestBorrowedObjects(t *testing.T) {
	w := newWorld(t)
	const box = "iron/sessions/s1/sandbox/"
	elsewhere := w.outside + "/repo/.git/objects"
	w.write(box+"store/info/alternates", elsewhere+"\n")
	w.write(box+"honest/info/alternates", "")
	w.must(os.MkdirAll(w.sandbox+"/linked", 0o700))
	w.must(os.Symlink(elsewhere+"/pack", w.sandbox+"/linked/pack"))
	w.must(os.Symlink(elsewhere, w.sandbox+"/return\r"))
	e := w.engine()
	for i, tc := range []struct {
		names string
		want  Decision
	}{
		{elsewhere, Escalate},
		{"# comment\n" + elsewhere + "\n", Escalate},
		{"/nowhere\n" + elsewhere, Escalate},
		{"\"" + elsewhere + "\"\n", Deny},
		{"\"\\057tmp\"\n", Deny},
		{w.sandbox + "/store\n", Escalate},
		{"../../../store\n", Escalate},
		{w.sandbox + "/linked\n", Escalate},
		{w.sandbox + "/return\r\n", Escalate},
		{w.sandbox + "/honest\n" + w.sandbox + "/honest\n", Allow},
	} {
		name := fmt.Sprintf("borrows%d", i)
		w.repository(box+name, githubRemote, nil)
		w.write(box+name+"/.git/objects/info/alternates", tc.names)
		v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"` + name + `"}`)})
		if v.Decision != tc.want {
			t.Errorf("%q: %s by %s (%s), want %s", tc.names, v.Decision, v.Rule, v.Reason, tc.want)
		}
	}
}

// TestLinksThatGitReads has links below .git through which git reads messages, paths and
// contents, and merge options that name a file.
func TestLinksThatGitReads(t *testing.T) {
	w := newWorld(t)
	const box = "iron/sessions/s1/sandbox/"
	for i, file := range []string{
		"rebase-merge/message", "rebase-apply/final-commit", "sequencer/todo", "rr-cache/0123/postimage",
		"worktrees/w/locked", "worktrees/w/gitdir", "branches/x", "remotes/x",
	} {
		name := fmt.Sprintf("reads%d", i)
		w.repository(box+name, githubRemote, nil)
		full := filepath.Join(w.sandbox, name, ".git", file)
		w.must(os.MkdirAll(filepath.Dir(full), 0o700))
		w.must(os.Symlink(w.outside+"/secret.txt", full))
	}
	for i, options := range []string{"--no-ff -F {OUT}/secret.txt", "--fil={OUT}/secret.txt", "-s ../x", "-qF{OUT}/secret.txt"} {
		w.repository(fmt.Sprintf("%sreads%d", box, 8+i), githubRemote+"[branch \"main\"]\n\tmergeOptions = "+w.expand(options)+"\n", nil)
	}
	w.repository(box+"plain", githubRemote+"[branch \"main\"]\n\tmergeOptions = --no-ff --no-edit\n", map[string]string{".git/rebase-merge/message": "x"})
	e := w.engine()
	for i := range 12 {
		v := e.Evaluate(Call{Server: "git", Tool: "git_merge", Arguments: fmt.Appendf(nil, `{"path":"reads%d","branch":"x"}`, i)})
		if v.Decision != Escalate {
			t.Errorf("reads%d: %s by %s (%s)", i, v.Decision, v.Rule, v.Reason)
		}
	}
	v := e.Evaluate(Call{Server: "git", Tool: "git_merge", Arguments: []byte(`{"path":"plain","branch":"x"}`)})
	if v.Decision != Allow {
		t.Errorf("nothing to read: %s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
}
