package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesThatGitIsToldToRun writes workspace files that are hooks or programs only
// because a configuration names them.
func TestFilesThatGitIsToldToRun(t *testing.T) {
	type try struct {
		path string
		want Decision
	}
	w := newWorld(t)
	for i, tc := range []struct {
		name, config, home string
		tries              []try
	}{
		{"hooks", "[core]\n\thooksPath = scripts/git\n", "", []try{
			{"scripts/git/pre-commit", Escalate}, {"scripts/git/lib/common.sh", Escalate}, {"scripts/build.sh", Allow}, {"scripts/gitlab.sh", Allow}, {"src/a.go", Allow},
		}},
		{"hooks, odd spelling", "[CORE]\n\tHooksPath = \"./tools/../scripts//git/\"\n", "", []try{{"scripts/git/pre-commit", Escalate}}},
		{"hooks by their whole name", "[core]\n\thooksPath = {HERE}/scripts/git\n", "", []try{{"scripts/git/pre-push", Escalate}, {"scripts/x", Allow}}},
		{"hooks behind a link", "[core]\n\thooksPath = link/git\n", "", []try{{"scripts/git/pre-commit", Escalate}, {"link/git/pre-commit", Escalate}}},
		{"hooks not there yet", "[core]\n\thooksPath = ci/hooks\n", "", []try{{"ci/hooks/pre-commit", Escalate}, {"ci", Escalate}, {"ci/other", Allow}, {"ci2", Allow}}},
		{"hooks elsewhere", "[core]\n\thooksPath = /dev/null\n", "", []try{{"scripts/git/pre-commit", Allow}}},
		{"hooks of the repository above", "[core]\n\thooksPath = lib/hooks\n", "", []try{{"lib/hooks/pre-commit", Escalate}, {"lib/src/a.go", Allow}}},
		{"hooks of the person", "", "[core]\n\thooksPath = .git-hooks\n", []try{{".git-hooks/pre-commit", Escalate}, {"lib/.git-hooks/pre-commit", Escalate}, {"lib/a", Allow}}},
		{"included", "[include]\n\tpath = ../conf/shared\n", "", []try{{"conf/shared", Escalate}, {"scripts/git/pre-commit", Escalate}, {"conf/other", Allow}}},
		{"included sometimes", "[includeIf \"onbranch:main\"]\n\tpath = ../conf/shared\n", "", []try{{"conf/shared", Escalate}, {"scripts/git/pre-commit", Escalate}}},
		{"included, not there", "[include]\n\tpath = ../conf/new\n", "", []try{{"conf/new", Escalate}, {"conf/old", Allow}}},
		{"included without an end", "[include]\n\tpath = config\n", "", []try{{"src/a.go", Escalate}}},
		{"included by the person", "", "[include]\n\tpath = {HERE}/conf/shared\n", []try{{"conf/shared", Escalate}, {"scripts/git/pre-commit", Escalate}}},
		{"filter", "[filter \"x\"]\n\tclean = ./tools/clean.sh %f\n\tsmudge = cat\n", "", []try{{"tools/clean.sh", Escalate}, {"tools/clean.shx", Allow}, {"tools/other.sh", Allow}, {"cat", Allow}}},
		{"interpreter", "[merge \"x\"]\n\tdriver = node \"tools/merge it.js\" %O %A %B\n", "", []try{{"tools/merge it.js", Escalate}, {"merge it.js", Allow}}},
		{"top of the tree", "[alias]\n\tgo = \"!sh \\\"$(git rev-parse --show-toplevel)/tools/go\\\"\"\n", "", []try{{"tools/go", Escalate}, {"tools/gone", Allow}}},
		{"word", "[alias]\n\tt = !make test\n", "", []try{{"test", Allow}, {"make", Allow}, {"test/a.go", Allow}}},
		{"script", "[alias]\n\tt = !python release.py\n", "", []try{{"release.py", Escalate}, {"prerelease.py", Allow}}},
		{"monitor", "[core]\n\tfsmonitor = tools/watch\n", "", []try{{"tools/watch", Escalate}}},
		{"no monitor", "[core]\n\tfsmonitor = true\n", "", []try{{"true", Allow}}},
		{"connection", "[core]\n\tsshCommand = ./tools/SSH -i key\n", "", []try{{"tools/ssh", Escalate}}},
		{"attributes", "[core]\n\tattributesFile = conf/attributes\n", "", []try{{"conf/attributes", Escalate}}},
		{"nothing", "[user]\n\tname = tools/clean.sh\n[core]\n\tautocrlf = input\n", "", []try{{"tools/clean.sh", Allow}, {"scripts/git/pre-commit", Allow}}},
		{"program elsewhere", "[filter \"x\"]\n\tsmudge = cd tools && ./clean.sh\n", "", []try{{"tools/clean.sh", Escalate}, {"tools/other.sh", Allow}, {"src/a.go", Allow}}},
		{"program from above", "[filter \"x\"]\n\tclean = \"sh -c '(cd src/in; ../../tools/clean.sh)'\"\n", "", []try{{"tools/clean.sh", Escalate}, {"src/a.go", Allow}}},
		{"helper", "[credential]\n\thelper = !./tools/login\n", "", []try{{"tools/login", Escalate}, {"tools/log", Allow}}},
		{"broken", "[core\n", "", []try{{"src/a.go", Escalate}}},
	} {
		here := fmt.Sprintf("told%d", i)
		dir := "iron/sessions/s1/sandbox/" + here
		full := func(config string) string { return strings.ReplaceAll(config, "{HERE}", filepath.Join(w.root, dir)) }
		w.repository(dir, full(tc.config), map[string]string{
			"scripts/git/pre-commit": "", "tools/clean.sh": "", "conf/shared": "[core]\n\thooksPath = scripts/git\n", "src/a.go": "",
		})
		w.repository(dir+"/lib", githubRemote, nil)
		w.must(os.Symlink("scripts", filepath.Join(w.root, dir, "link")))
		w.write(here+"/.gitconfig", full(tc.home))
		e := w.engine(func(c *Config) { c.Home = filepath.Join(w.root, here) })
		for _, each := range tc.tries {
			for tool, args := range map[string]string{
				"write_file":       `{"path":"` + here + `/` + each.path + `","content":"x"}`,
				"create_directory": `{"path":"` + here + `/` + each.path + `"}`,
				"move_file":        `{"source":"a.txt","destination":"` + here + `/` + each.path + `"}`,
			} {
				v := e.Evaluate(Call{Server: "filesystem", Tool: tool, Arguments: []byte(args)})
				if v.Decision != each.want || each.want == Escalate && v.Rule != RuleHostExecution {
					t.Errorf("%s: %s %s: %s by %s (%s), want %s", tc.name, tool, each.path, v.Decision, v.Rule, v.Reason, each.want)
				}
			}
			v := e.Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"` + here + `/` + each.path + `"}`)})
			if v.Decision != Allow {
				t.Errorf("%s: read %s: %s by %s", tc.name, each.path, v.Decision, v.Rule)
			}
		}
	}
}

// TestLinkedHooks has hooks that are links to files of the workspace, and a work
// tree whose repository is elsewhere.
func TestLinkedHooks(t *testing.T) {
	w := newWorld(t)
	const box = "iron/sessions/s1/sandbox/"
	w.repository(box+"one", githubRemote, map[string]string{"ci/check.sh": ""})
	w.must(os.Symlink("../../ci/check.sh", w.sandbox+"/one/.git/hooks/pre-commit"))
	w.repository(box+"all", githubRemote, map[string]string{"ci/check.sh": ""})
	w.must(os.RemoveAll(w.sandbox + "/all/.git/hooks"))
	w.must(os.Symlink("../ci", w.sandbox+"/all/.git/hooks"))
	w.repository(box+"main", githubRemote+"[core]\n\thooksPath = ci\n", nil)
	w.write(box+"tree/.git", "gitdir: ../main/.git/worktrees/tree\n")
	w.write(box+"main/.git/worktrees/tree/commondir", "../..\n")
	w.write(box+"bad/.git", "no repository\n")
	w.repository(box+"moved", "[core]\n\tworktree = ../../one\n\thooksPath = bin\n", nil)
	e := w.engine()
	for path, want := range map[string]Decision{
		"one/ci/check.sh": Escalate, "one/ci/other.sh": Allow, "all/ci/check.sh": Escalate, "all/ci/new": Escalate, "all/src": Allow,
		"tree/ci/pre-commit": Escalate, "tree/src": Allow, "main/ci/x": Escalate, "bad/ci/x": Allow, "one/bin/x": Escalate, "moved/bin/x": Allow,
	} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"` + path + `","content":"x"}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", path, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// TestConfigurationThatChanges: a configuration is read again after it has changed.
func TestConfigurationThatChanges(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	const config = "iron/sessions/s1/sandbox/repo/.git/config"
	for _, step := range []struct {
		config string
		want   Decision
	}{{githubRemote, Allow}, {"[core]\n\thooksPath = tools\n", Escalate}, {"[core]\n\thooksPath = other\n", Allow}, {"", Allow}, {"[core]\n\tpager = tools/x\n", Escalate}} {
		// A file of its own each time, as git itself and editors replace it.
		w.must(os.Rename(filepath.Join(w.root, config), filepath.Join(w.root, config+".old")))
		w.write(config, step.config)
		v := e.Evaluate(Call{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"repo/tools/x","content":"x"}`)})
		if v.Decision != step.want {
			t.Errorf("%q: %s by %s (%s), want %s", step.config, v.Decision, v.Rule, v.Reason, step.want)
		}
	}
}

// TestRepositoryThatAppears: a directory becomes a repository between two calls.
func TestRepositoryThatAppears(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	const dir = "iron/sessions/s1/sandbox/later"
	w.write(dir+"/in/a.txt", "")
	for _, step := range []struct {
		config string
		want   Decision
	}{{"", Allow}, {"", Allow}, {"[core]\n\thooksPath = in\n", Escalate}} {
		if step.config != "" {
			w.repository(dir, step.config, nil)
		}
		for _, path := range []string{"later/in/a.txt", "later/in/new/b.txt"} {
			v := e.Evaluate(Call{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"` + path + `","content":"x"}`)})
			if v.Decision != step.want {
				t.Errorf("%s: %s by %s (%s), want %s", path, v.Decision, v.Rule, v.Reason, step.want)
			}
		}
	}
}

// TestRepositoriesBeside has repositories whose configurations name files outside their
// own work trees but in the workspace, and a repository without a work tree.
func TestRepositoriesBeside(t *testing.T) {
	w := newWorld(t)
	w.must(os.RemoveAll(w.sandbox + "/g"))
	const box = "iron/sessions/s1/sandbox/"
	w.repository(box+"one", githubRemote+"[core]\n\thooksPath = ../shared/hooks\n[include]\n\tpath = ../../conf/git\n", nil)
	w.repository(box+"group/two", githubRemote+"[filter \"x\"]\n\tclean = ../../tools/clean %f\n\tsmudge = "+w.sandbox+"/tools/smudge\n", nil)
	w.repository(box+"bad", "[core\n", nil)
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = true\n\thooksPath = run\n", "objects/x": "", "refs/x": ""} {
		w.write(box+"bare.git/"+name, content)
	}
	e := w.engine()
	for path, want := range map[string]Decision{
		"shared/hooks/pre-commit": Escalate, "shared/other": Allow, "conf/git": Escalate, "conf/other": Allow,
		"tools/clean": Escalate, "tools/smudge": Escalate, "tools/cleaner": Allow, "group/tools/clean": Allow,
		"bare.git/run/update": Escalate, "bare.git/runner": Allow, "one/shared/hooks/x": Allow, "one/a.go": Allow, "group/two/shared/x": Allow,
	} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"` + path + `","content":"x"}`)})
		if v.Decision != want || want == Escalate && v.Rule != RuleHostExecution {
			t.Errorf("%s: %s by %s (%s), want %s", path, v.Decision, v.Rule, v.Reason, want)
		}
	}
}
