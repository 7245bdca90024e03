package obeyed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sh runs commands in a directory, with a home and a configuration of git of their own.
func sh(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

func looked(t *testing.T, dir, home string) Look {
	t.Helper()
	l, err := Take(t.Context(), dir, home, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func lines(all []Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// person makes a repository without hooks, in which a filter, included settings and
// an editor's settings are the person's own.
func person(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sh(t, dir, `git init -q --template= w; cd w; git config filter.x.clean 'python3 tools/Filter.py'; git config include.path ../settings
git config core.hooksPath scripts/hooks; mkdir -p tools scripts/hooks .vscode .husky src; touch tools/Filter.py settings .vscode/tasks.json
echo one >scripts/hooks/pre-commit; echo one >.husky/pre-push; echo x >src/a`)
	return filepath.Join(dir, "w")
}

// Each way to have something run is named, with who would run it; what only looks so is
// not. git is really asked in none of them.
func TestWhatAnAgentLeaves(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"nothing", "echo two >src/a; mkdir -p .vscode; touch src/b .vscode/x; git commit -q --allow-empty -m x", ""},
		{"settings of no weight", "git config user.name x; git config branch.x.remote origin", ""},
		{"a hook where there was none", "mkdir .git/hooks; echo evil >.git/hooks/post-checkout; touch .git/hooks/x.sample", "new: .git/hooks/post-checkout (git runs it as a hook)"},
		{"a hook where the configuration says", "echo two >scripts/hooks/pre-commit; chmod +x scripts/hooks/pre-commit", "changed: scripts/hooks/pre-commit (git runs it as a hook)"},
		{"configuration", "git config core.fsmonitor ./evil; touch evil", "new: evil (git runs it, as its configuration says (core.fsmonitor))\nchanged: .git/config (git obeys its core.fsmonitor, core.hookspath, filter.*.clean, include.path)"},
		{"a program that git runs", "echo evil >tools/Filter.py", "changed: tools/Filter.py (git runs it, as its configuration says (filter.*.clean))"},
		{"an included file", "echo '[core]\n sshCommand = x' >settings", "changed: settings (git obeys it, because its configuration includes it)"},
		{"configuration of a worktree", "echo '[core]\n fsmonitor = x' >.git/config.worktree", "new: .git/config.worktree (git obeys its core.fsmonitor)"},
		{"a common directory", "mkdir evil; echo ../evil >.git/commondir", "new: .git/commondir (git uses the repository that this file names)"},
		{"alternates", "mkdir -p .git/objects/info; echo /else >.git/objects/info/alternates", "new: .git/objects/info/alternates (git reads objects from the repository that this file names)"},
		{"attributes", "mkdir .git/info; echo '* filter=x' >.git/info/attributes", "new: .git/info/attributes (git runs the filters it names)"},
		{"a rebase", "mkdir .git/rebase-merge; printf 'pick 1\\n  exec evil\\n' >.git/rebase-merge/git-rebase-todo", "new: .git/rebase-merge/git-rebase-todo (git runs its commands when the rebase is continued)"},
		{"an embedded repository", "git init -q src/in", "new: src/in/.git (git uses this repository there instead of the one around it)"},
		{"an armed one", "git init -q --bare x; git -C x config core.worktree ..; git -C x config core.fsmonitor y", "new: x (git uses this repository there instead of the one around it)\nnew: x/config (git obeys its core.fsmonitor, core.worktree)"},
		{"the workspace itself as one", "git init -q --bare t; git -C t config core.fsmonitor y; mv t/* .; rmdir t", "new: . (git uses this repository there instead of the one around it)\nnew: config (git obeys its core.fsmonitor)"},
		{"a submodule's", "mkdir -p .git/modules; git init -q --bare .git/modules/a; git --git-dir=.git/modules/a config core.sshCommand x", "new: .git/modules/a/config (git obeys its core.sshcommand)"},
		{"a repository elsewhere", "echo gitdir: ../x >src/.git", "new: src/.git (git uses the repository that this file names)"},
		{"a link to one", "git init -q x; mv x/.git x/g; ln -s ../x/g src/.git; git --git-dir=x/g config core.pager y", "new: src/.git (git uses the repository that this link leads to)\nnew: x/g (git uses this repository there instead of the one around it)\nnew: src/.git/config (git obeys its core.pager)\nnew: x/g/config (git obeys its core.pager)"},
		{"editors and shells", "touch .envrc .dir-locals.el x.code-workspace; echo x >.vscode/tasks.json; mkdir .idea; touch .idea/a .idea/b", "new: .dir-locals.el (the editor runs it)\nnew: .envrc (the shell loads it)\nnew: .idea, 2 files (editors run its configurations)\nnew: x.code-workspace (editors run its tasks)\nchanged: .vscode/tasks.json (editors run its tasks and the programs it names)"},
		{"a directory that counts as a whole", "echo x >>.husky/pre-push; touch .husky/pre-commit", "changed: .husky, 2 files (git hooks live there)"},
		{"links", "rm -r .vscode; mkdir v; touch v/launch.json; ln -s v .vscode; ln -s /etc/passwd .envrc", "new: .envrc (the shell loads it)\nnew: .vscode/launch.json (editors run its tasks and the programs it names)"},
		{"pipes", "mkfifo .envrc .git/config.worktree .git/commondir; mkdir .git/hooks; mkfifo .git/hooks/update", "new: .git/commondir (git uses the repository that this file names)\nnew: .git/config.worktree (git may obey this configuration, which could not be examined)\nnew: .git/hooks/update (git runs it as a hook)\nnew: .envrc (the shell loads it)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := person(t)
			sh(t, dir, "git config user.email t@t; git config user.name t; git config core.hooksPath scripts/hooks")
			before := looked(t, dir, "")
			sh(t, dir, c.script)
			now := looked(t, dir, "")
			top, err := TakeRepository(t.Context(), dir, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range top.Since(before) {
				if !strings.Contains(c.want, f.String()) {
					t.Errorf("of the repository alone: %s", f)
				}
			}
			if armed := strings.Contains(c.want, ": .git/"); armed && len(top.Since(before)) == 0 {
				t.Error("of the repository alone nothing is named")
			}
			if got := lines(now.Since(before)); strings.TrimSpace(got) != c.want || now.Missed != "" {
				t.Errorf("got %q\n%s\nwant\n%s", now.Missed, got, c.want)
			}
		})
	}
}

// What is named in the person's own configuration counts, too.
func TestConfigurationOutside(t *testing.T) {
	dir := person(t)
	home := filepath.Dir(dir)
	sh(t, home, `printf '[core]\nhooksPath = ~/w/mine\n[alias]\nst = "!$HOME/x; tools/st.sh"\n' >.gitconfig; mkdir w/mine`)
	before := looked(t, dir, home)
	sh(t, dir, "touch mine/pre-push tools/st.sh")
	want := "new: mine/pre-push (git runs it as a hook)\nnew: tools/st.sh (git runs it, as its configuration says (alias.st))\n"
	if got := lines(looked(t, dir, home).Since(before)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A look at what an agent has made to be looked at for ever ends soon, says what it
// missed, and has found what is nearest to the top.
func TestBounds(t *testing.T) {
	small := limits{dirs: 100, entries: 400, depth: 20, files: 50, names: 1 << 20, repositories: 10, bytes: 1 << 20, time: 10 * time.Second}
	for name, c := range map[string]struct {
		make   func(t *testing.T, dir string)
		missed string
	}{
		"deep":       {func(t *testing.T, dir string) { t.Helper(); nested(t, dir, 300) }, "deeper than 20 directories"},
		"wide":       {func(t *testing.T, dir string) { t.Helper(); sh(t, dir, "mkdir d; cd d; seq 200 | xargs mkdir") }, "more than 100 directories"},
		"many files": {func(t *testing.T, dir string) { t.Helper(); sh(t, dir, "mkdir d; cd d; seq 800 | xargs touch") }, "more than 400 files"},
		"many to name": {func(t *testing.T, dir string) {
			t.Helper()
			sh(t, dir, "for i in $(seq 60); do mkdir $i; touch $i/.envrc; done")
		}, "too many such files"},
		"many repositories": {func(t *testing.T, dir string) {
			t.Helper()
			sh(t, dir, "for i in $(seq 20); do mkdir -p $i/objects $i/refs; touch $i/HEAD; done")
		}, "more than 10 repositories"},
		"links around": {func(t *testing.T, dir string) {
			t.Helper()
			sh(t, dir, "for i in $(seq 10); do ln -s . .a$i; done; mkdir x y z")
		}, ""},
		"includes": {func(t *testing.T, dir string) {
			t.Helper()
			sh(t, dir, "mkdir -p .git; for i in $(seq 200); do printf '[include]\npath = ../a\npath = ../b\npath = ../.git/config\n'; done | tee .git/config a >b")
		}, ""},
		"closed": {func(t *testing.T, dir string) {
			t.Helper()
			if os.Geteuid() != 0 {
				sh(t, dir, "mkdir x; chmod 0 x")
			} else {
				nested(t, dir, 30) // root can look into everything
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			sh(t, dir, "echo x >.bashrc")
			l, err := look(t.Context(), dir, "", small, func(l *looker) { l.enter(&place{}) }, nil)
			if err != nil || !strings.Contains(l.Missed, c.missed) || (c.missed == "") && l.Missed != "" && name != "closed" {
				t.Errorf("missed %q, %v", l.Missed, err)
			}
			if _, found := l.Files[".bashrc"]; !found {
				t.Errorf("what is at the top was not found: %v", l.Files)
			}
			sh(t, dir, "chmod -f 700 x || true")
		})
	}
	t.Run("long", func(t *testing.T) {
		l, err := Take(t.Context(), t.TempDir(), "", time.Nanosecond)
		if err != nil || !strings.Contains(l.Missed, "longer than 1ns") {
			t.Errorf("missed %q, %v", l.Missed, err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := Take(ended, t.TempDir(), "", time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: %v", err)
		}
	})
	t.Run("large", func(t *testing.T) {
		dir := t.TempDir()
		sh(t, dir, "truncate -s 1T .envrc; echo x >.bashrc")
		began := time.Now()
		first := looked(t, dir, "")
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
		if all := looked(t, dir, "").Since(first); len(all) == 0 || all[0].State != "changed" {
			t.Errorf("what cannot be compared is not named: %v", all)
		}
	})
}

// nested makes directories in each other.
func nested(t *testing.T, dir string, depth int) {
	t.Helper()
	at, err := unix.Open(dir, unix.O_DIRECTORY, 0)
	for i := 0; i < depth && err == nil; i++ {
		next := -1
		if err = unix.Mkdirat(at, "d", 0o700); err == nil {
			next, err = unix.Openat(at, "d", unix.O_DIRECTORY, 0)
		}
		_ = unix.Close(at)
		at = next
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(at)
	t.Cleanup(func() { _ = exec.Command("rm", "-rf", dir).Run() })
}

// A link out of the workspace is not followed, whatever it is the name of.
func TestLinksOut(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	sh(t, other, "git init -q .; git config core.fsmonitor x; touch tasks.json .envrc; mkdir sub; touch sub/.envrc")
	sh(t, dir, fmt.Sprintf("ln -s %[1]s .vscode; ln -s %[1]s/.git .git; ln -s %[1]s/sub sub; ln -s %[1]s .husky", other))
	l := looked(t, dir, "")
	for name := range l.Files {
		if name != ".git" && name != ".husky" {
			t.Errorf("%s was looked at", name)
		}
	}
	if len(l.Files) != 2 {
		t.Errorf("the links are not named: %v", l.Files)
	}
}

// A record reads as it was written, whatever bytes names are made of, and tells of a
// look that was not whole.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	sh(t, dir, `mkdir "$(printf 'a\377\nb')"; touch "$(printf 'a\377\nb')/.envrc"`)
	l := looked(t, dir, "")
	file := filepath.Join(t.TempDir(), "kept")
	if err := (Record{Look: l, Made: []string{".git/hooks"}}).Keep(file); err != nil {
		t.Fatal(err)
	}
	got, err := Kept(file)
	if err != nil || len(got.Made) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if all := l.Since(got.Look); len(all) != 0 {
		t.Errorf("it has changed: %v", all)
	}
	got.Files, got.Missed = nil, "it took too long"
	want := "new, or not examined before: \"a\\xff\\nb/.envrc\" (the shell loads it)\n"
	if all := lines(l.Since(got.Look)); all != want {
		t.Errorf("got %s, want %s", all, want)
	}
}
