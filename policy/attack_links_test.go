package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// bareRepo makes the smallest directory that git accepts as a repository.
func (w *world) bareRepo(dir, config string) string {
	w.t.Helper()
	git := filepath.Join(w.sandbox, dir, ".git")
	for _, d := range []string{"objects", "refs/heads", "logs"} {
		w.must(os.MkdirAll(filepath.Join(git, d), 0o700))
	}
	w.must(os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	w.must(os.WriteFile(filepath.Join(git, "config"), []byte(config), 0o600))
	return git
}

// TestOtherNames writes files through another of their names.
func TestOtherNames(t *testing.T) {
	w := newWorld(t)
	git := w.bareRepo("named", "")
	at := func(name string) string { return filepath.Join(w.sandbox, name) }
	w.must(os.Link(filepath.Join(git, "config"), at("named-config")))
	w.must(os.WriteFile(at(".envrc"), nil, 0o600))
	w.must(os.Link(at(".envrc"), at("named-envrc")))
	w.must(os.Symlink("named/.git", at("named-git")))
	w.must(os.Symlink(".envrc", at("linked-envrc")))
	w.must(os.Link(filepath.Join(w.outside, "secret.txt"), at("named-secret")))
	e := w.engine()
	for _, name := range []string{"named-config", "named-envrc", "named-git/config", "named-git/hooks/pre-commit", "linked-envrc", "named-secret"} {
		for tool, rest := range map[string]string{"write_file": `"content":"x"`, "edit_file": `"edits":[{"oldText":"a","newText":"b"}]`} {
			v := e.Evaluate(Call{Server: "filesystem", Tool: tool, Arguments: []byte(`{"path":"` + name + `",` + rest + `}`)})
			if v.Decision != Escalate || v.Rule != RuleHostExecution {
				t.Errorf("%s %s: %s by %s", tool, name, v.Decision, v.Rule)
			}
		}
	}
	for _, name := range []string{"named-secret", "named-envrc"} { // both names read the same file
		if v := e.Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"` + name + `"}`)}); v.Decision != Allow {
			t.Errorf("read %s: %s by %s", name, v.Decision, v.Rule)
		}
	}
}

// TestRepositoriesThatLeadOut has links inside .git through which git would write outside.
func TestRepositoriesThatLeadOut(t *testing.T) {
	w := newWorld(t)
	for _, inside := range []string{"logs", "logs/HEAD", "COMMIT_EDITMSG", "index", "packed-refs", "refs/heads/main", "refs/heads/deep/x", "info/exclude", "objects/ab", "objects/pack/p", "objects/cd/0123", "objects/pack/multi-pack-index.d/x", "objects/info/commit-graphs/x", "shallow", "worktrees/x"} {
		for target, want := range map[string]Decision{w.outside: Escalate, filepath.Join(w.outside, "not-there"): Escalate, w.iron: Deny, filepath.Join(w.sandbox, "src"): Allow} {
			git := w.bareRepo("leads", "")
			link := filepath.Join(git, inside)
			w.must(os.MkdirAll(filepath.Dir(link), 0o700))
			w.must(os.RemoveAll(link))
			w.must(os.Symlink(target, link))
			v := w.engine().Evaluate(Call{Server: "git", Tool: "git_commit", Arguments: []byte(`{"path":"/workspace/leads","message":"m"}`)})
			if v.Decision != want {
				t.Errorf("%s to %s: %s by %s (%s), want %s", inside, target, v.Decision, v.Rule, v.Reason, want)
			}
			w.must(os.RemoveAll(filepath.Join(w.sandbox, "leads")))
		}
	}
}

// TestProgramsOfARepository tries settings that make git run a program.
func TestProgramsOfARepository(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for _, config := range []string{
		"[core]\n pager=evil\n", "[pager]\n log=evil\n", "[alias]\n st=!evil\n", "[gc]\n recentObjectsHook=evil\n", "[difftool \"x\"]\n cmd=evil\n",
		"[mergetool \"x\"]\n path=/tmp/x\n", "[tar \"x\"]\n command=evil\n", "[remote \"origin\"]\n promisor=true\n", "[sendemail]\n sendmailCmd=evil\n",
		"[lfs]\n url=https://evil.example.org/\n", "[lfs \"customtransfer.x\"]\n path=evil\n", "[imap]\n tunnel=evil\n", "[http \"https://github.com\"]\n sslCAPath=/tmp\n",
		"[CoRe]\n\tPAGER = \"ev\\\"il\"\n", "[core]\n pag\\\ner=evil\n",
	} {
		w.bareRepo("programs", config)
		v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/programs"}`)})
		if v.Decision == Allow {
			t.Errorf("%q: allowed by %s", config, v.Rule)
		}
	}
	for _, config := range []string{"[pager]\n log=false\n", "[alias]\n st=status\n", "[remote \"origin\"]\n url=https://github.com/a/b\n fetch=+refs/heads/*:refs/remotes/origin/*\n", "[user]\n name=x\n"} {
		w.bareRepo("programs", config)
		if v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/programs"}`)}); v.Decision != Allow {
			t.Errorf("%q: %s by %s (%s)", config, v.Decision, v.Rule, v.Reason)
		}
	}
}

// TestFilesThatARepositoryNames: git reads files that a configuration names, and prints
// parts of them in error messages.
func TestFilesThatARepositoryNames(t *testing.T) {
	w := newWorld(t)
	for config, want := range map[string]Decision{
		"[blame]\n ignoreRevsFile={OUT}/secret.txt\n":              Escalate,
		"[blame]\n ignoreRevsFile=:(optional){OUT}/secret.txt\n":   Escalate,
		"[blame]\n ignoreRevsFile=../../../../../outside/secret\n": Escalate,
		"[blame]\n ignoreRevsFile=~/.ssh/id_rsa\n":                 Deny,
		"[core]\n excludesFile=~root/x\n":                          Deny,
		"[core]\n attributesFile={OUT}/secret.txt\n":               Escalate,
		"[mailmap]\n file={OUT}/secret.txt\n":                      Escalate,
		"[fetch \"fsck\"]\n skipList={OUT}/secret.txt\n":           Escalate,
		"[user]\n signingKey={OUT}/secret.txt\n":                   Escalate,
		"[user]\n signingKey=0123ABCD\n":                           Allow,
		"[blame]\n ignoreRevsFile=.git-blame-ignore-revs\n":        Allow,
		"[blame]\n ignoreRevsFile=\n[commit]\n template=a/t.txt\n": Allow,
	} {
		w.bareRepo("names", w.expand(config))
		v := w.engine().Evaluate(Call{Server: "git", Tool: "git_blame", Arguments: []byte(`{"path":"/workspace/names","filePath":"a.txt"}`)})
		if v.Decision != want {
			t.Errorf("%q: %s by %s (%s), want %s", config, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

func TestTextsThatLookLikeOptions(t *testing.T) {
	w := newWorld(t)
	w.bareRepo("options", "")
	e := w.engine()
	for _, name := range []string{"author", "grep", "since", "until"} {
		for value, want := range map[string]Decision{"--output=/tmp/x": Deny, " -x": Deny, "2 weeks ago": Allow, "fix-up": Allow} {
			v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/options","` + name + `":"` + value + `"}`)})
			if v.Decision != want {
				t.Errorf("%s %q: %s by %s (%s)", name, value, v.Decision, v.Rule, v.Reason)
			}
		}
	}
	if v := e.Evaluate(Call{Server: "git", Tool: "git_commit", Arguments: []byte(`{"path":"/workspace/options","message":"- a list\n- of points"}`)}); v.Decision != Allow {
		t.Errorf("a message: %s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
}

// TestProtectedDirectoryThatCannotBeListed has a directory whose path is too long to be
// opened. A file with several hard links could have one of them in it.
func TestProtectedDirectoryThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	deep, err := unix.Open(filepath.Join(w.home, ".ssh"), unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	w.must(err)
	name := strings.Repeat("d", 200)
	for range 25 {
		w.must(unix.Mkdirat(deep, name, 0o700))
		next, err := unix.Openat(deep, name, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		w.must(err)
		w.must(unix.Close(deep))
		deep = next
	}
	w.must(unix.Close(deep))
	w.must(os.Link(filepath.Join(w.sandbox, "a.txt"), filepath.Join(w.sandbox, "b.txt")))
	v := w.engine().Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"a.txt"}`)})
	if v.Decision != Deny || v.Rule != RuleProtectedPath {
		t.Errorf("%s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
	w.must(os.WriteFile(filepath.Join(w.sandbox, "only.txt"), nil, 0o600))
	if v := w.engine().Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"only.txt"}`)}); v.Decision != Allow {
		t.Errorf("a file with one name: %s by %s (%s)", v.Decision, v.Rule, v.Reason)
	}
}
