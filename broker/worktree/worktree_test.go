package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sh runs shell commands in a directory, as a person or an agent would.
func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// person is a repository with two commits, a remote, a tag, and a hook and a
// monitor that must never run.
func person(t *testing.T) (dir, trap string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, trap = filepath.Join(base, "project"), filepath.Join(base, "sprung")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, `git init -q -b main .
git config user.name "Ada \"L\""; git config user.email ada@example.org
git remote add origin https://github.com/acme/widget.git
git remote add secret https://ada:hunter2@example.org/x.git
mkdir sub; echo one >a; echo run >sub/b; chmod +x sub/b; ln -s a link; echo '*.o' >.gitignore
git add .; git commit -qm one; git tag v1; echo two >>a; git commit -qam two`)
	for _, hook := range []string{"reference-transaction", "post-checkout", "post-index-change"} {
		if err := os.WriteFile(filepath.Join(dir, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+trap+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, dir, "git config core.fsmonitor 'touch "+trap+"'; git config core.alternateRefsCommand 'touch "+trap+"'; rm -f "+trap)
	t.Cleanup(func() {
		if _, err := os.Stat(trap); err == nil {
			t.Error("a program of the repository has run on the host")
		}
	})
	return dir, trap
}

// made is a tree of a person's repository.
func made(t *testing.T, dir string) (Place, Tree) {
	t.Helper()
	s, err := Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	p, tree := Place{Dir: filepath.Join(at, "worktree"), Keep: filepath.Join(at, "worktree.git")}, s.Tree("ironcurtain/6f1c0a77")
	if err := p.Make(t.Context(), s, tree); err != nil {
		t.Fatal(err)
	}
	return p, tree
}

func settle(t *testing.T, p Place, tree Tree) Outcome {
	t.Helper()
	o, err := p.Settle(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// branch is where the person's branch is, or empty.
func branch(t *testing.T, tree Tree) string {
	t.Helper()
	at, err := tree.branchAt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestMake(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	for script, want := range map[string]string{
		"git status --porcelain":        "",
		"git rev-parse HEAD":            sh(t, dir, "git rev-parse HEAD"),
		"git symbolic-ref --short HEAD": "ironcurtain/6f1c0a77",
		"cat a":                         "one\ntwo",
		"readlink link":                 "a",
		"test -x sub/b && git log -1 v1 --format=%s && test \"$(git rev-parse --git-common-dir)\" -ef .git": "one",
		"git config user.name":                      `Ada "L"`,
		"git config remote.origin.url":              "https://github.com/acme/widget.git",
		"git config remote.secret.url || echo none": "none",
		"git fsck 2>&1":                             "",
		"git count-objects | cut -d' ' -f1; ls .git/objects/pack 2>/dev/null || true": "0",
	} {
		t.Run(script, func(t *testing.T) {
			if got := sh(t, p.Dir, script); got != want {
				t.Errorf("%s: %q, want %q", script, got, want)
			}
		})
	}
	if branch(t, tree) != tree.Base {
		t.Errorf("the branch is at %q", branch(t, tree))
	}
}

func TestEmptyTreeGoes(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, "git status -s; git log -1 >/dev/null; mkdir -p empty/inside") // looking, and directories
	if o := settle(t, p, tree); !o.Removed || !o.Whole() {
		t.Errorf("got %+v", o)
	}
	if _, err := os.Stat(p.Dir); !os.IsNotExist(err) || branch(t, tree) != "" {
		t.Errorf("left behind: %v, branch %q", err, branch(t, tree))
	}
	if o := settle(t, p, tree); !o.Removed {
		t.Errorf("the second time: %+v", o)
	}
}

func TestChangesStay(t *testing.T) {
	for name, script := range map[string]string{
		"untracked": "echo x >new", "changed": "echo x >>a", "deleted": "rm a", "mode": "chmod -x sub/b",
		"ignored":            "touch x.o",
		"ignores itself":     "mkdir new; echo '*' >new/.gitignore",
		"no repository":      "mkdir -p new/.git; echo x >new/.git/work",
		"own repository":     "echo x >.git/work",
		"staged":             "echo x >new; git add new",
		"staged and deleted": "echo x >new; git add new; rm new",
		"ignored no more":    ">.gitignore; touch x.o",
		"a repository":       "git init -q inner; cd inner; git commit -q --allow-empty -m x",
		"reset commit":       "git commit -q --allow-empty -m x; git reset -q --hard HEAD~1",
		"stash":              "echo x >>a; git stash -q",
		"other branch":       "git checkout -q -b other; git commit -q --allow-empty -m x; git checkout -q ironcurtain/6f1c0a77",
		"detached":           "git checkout -q --detach; git commit -q --allow-empty -m x",
		"older commit":       "git checkout -q v1",
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			p, tree := made(t, dir)
			sh(t, p.Dir, script)
			if o := settle(t, p, tree); o.Removed || o.Whole() || o.Commits != 0 {
				t.Errorf("got %+v", o)
			}
			if !p.Made() || branch(t, tree) != tree.Base {
				t.Error("it is gone")
			}
		})
	}
}

func TestCommitsComeOver(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, "echo three >>a; git commit -qam three; echo b >b; git add b; git commit -qm four; git gc -q")
	o := settle(t, p, tree)
	if o.Removed || !o.Whole() || o.Commits != 2 {
		t.Fatalf("got %+v", o)
	}
	if got := sh(t, dir, "git -c core.fsmonitor=false log --format=%s main..ironcurtain/6f1c0a77; git -c core.fsmonitor=false fsck --strict 2>&1"); got != "four\nthree" {
		t.Errorf("the person has %q", got)
	}
	// Another life: an amended commit and one more.
	sh(t, p.Dir, "git commit -q --amend -m vier; git commit -q --allow-empty -m five; echo x >new")
	if o = settle(t, p, tree); o.Commits != 3 || o.Stuck != "" || o.Left == "" {
		t.Errorf("got %+v", o)
	}
	if got := sh(t, dir, "git log --format=%s main..ironcurtain/6f1c0a77"); got != "five\nvier\nthree" {
		t.Errorf("the person has %q", got)
	}
	// The person has merged it and deleted the branch: it does not come back.
	sh(t, dir, "git -c core.fsmonitor=false -c core.hooksPath=/dev/null merge -q ironcurtain/6f1c0a77; git -c core.hooksPath=/dev/null branch -q -d ironcurtain/6f1c0a77; rm -f ../sprung")
	sh(t, p.Dir, "rm new")
	if o = settle(t, p, tree); !o.Whole() || branch(t, tree) != "" {
		t.Errorf("got %+v, branch %q", o, branch(t, tree))
	}
	if err := p.Remove(t.Context(), tree); err != nil || p.Made() {
		t.Errorf("remove: %v", err)
	}
}

func TestMovedBranchIsThePersons(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, dir, "git -c core.hooksPath=/dev/null branch -qf ironcurtain/6f1c0a77 v1")
	sh(t, p.Dir, "git commit -q --allow-empty -m x")
	if o := settle(t, p, tree); o.Removed || o.Stuck == "" || o.Commits != 1 {
		t.Errorf("got %+v", o)
	}
	if got, want := branch(t, tree), sh(t, dir, "git rev-parse v1"); got != want {
		t.Errorf("the person's branch is at %q, want %q", got, want)
	}
}

// What the tree says about itself is never obeyed on the host.
func TestHostileTree(t *testing.T) {
	dir, trap := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, `git config core.fsmonitor 'touch `+trap+`'; git config core.alternateRefsCommand 'touch `+trap+`'
git config uploadpack.packObjectsHook 'touch `+trap+`'; git config filter.x.clean 'touch `+trap+`'; echo '* filter=x' >.gitattributes
printf '#!/bin/sh\ntouch `+trap+`\n' >.git/hooks/post-index-change; chmod +x .git/hooks/post-index-change
git init -q inner; git -C inner config core.fsmonitor 'touch `+trap+`'; git -C inner commit -q --allow-empty -m x
git -c core.fsmonitor= -c core.hooksPath=/dev/null add -A 2>/dev/null || true
git -c core.fsmonitor= -c core.hooksPath=/dev/null -c filter.x.clean=cat commit -qm evil; rm -f `+trap)
	if o := settle(t, p, tree); o.Commits != 1 || o.Stuck != "" {
		t.Errorf("got %+v", o)
	}
	// Objects that git's own check refuses do not get in, and nothing is lost.
	sh(t, p.Dir, `tree=$(printf '100644 .git\0aaaaaaaaaaaaaaaaaaaa' | git hash-object -t tree -w --literally --stdin)
c=$(git commit-tree -m bad $tree -p HEAD); git update-ref refs/heads/ironcurtain/6f1c0a77 $c; rm -f `+trap)
	o, err := p.Settle(t.Context(), tree)
	if o.Removed || err == nil && o.Stuck == "" {
		t.Errorf("got %+v, %v", o, err)
	}
	if !p.Made() {
		t.Error("it is gone")
	}
}

func TestSourcesRefused(t *testing.T) {
	dir, _ := person(t)
	other, _ := person(t)
	sh(t, other, "git -c core.hooksPath=/dev/null -c core.fsmonitor=false worktree add -q ../linked 2>/dev/null; rm -f ../sprung")
	linked := filepath.Join(filepath.Dir(other), "linked")
	if s, err := Open(t.Context(), linked, ""); err != nil || s.Common != filepath.Join(other, ".git") {
		t.Errorf("a linked worktree: %+v, %v", s.Common, err)
	}
	for name, tc := range map[string]struct{ script, want string }{
		"commondir":        {"echo " + other + "/.git >.git/commondir", "commondir"},
		"alternates":       {"mkdir -p .git/objects/info; echo " + other + "/.git/objects >.git/objects/info/alternates", "borrows"},
		"objects link":     {"rm -rf .git/objects; ln -s " + other + "/.git/objects .git/objects", "not a directory"},
		"git link":         {"rm -rf .git; ln -s " + other + "/.git .git", "neither"},
		"git file":         {"rm -rf .git; echo 'gitdir: " + other + "/.git/worktrees/linked' >.git", "does not know"},
		"relative":         {"rm -rf .git; echo 'gitdir: ../x' >.git", "does not name"},
		"own linked":       {"rm -rf .git; mkdir -p e/worktrees/x; echo \"gitdir: $PWD/e/worktrees/x\" >.git; echo $PWD/.git >e/worktrees/x/gitdir; echo " + other + "/.git >e/worktrees/x/commondir", "names another directory"},
		"no commit":        {"rm -rf .git; git init -q .", "no commit"},
		"no repository":    {"rm -rf .git", "not the top"},
		"below the top":    {"mkdir y; git init -q y/..; mv .git y/", "not the top"},
		"another includes": {"git config include.path /tmp/x", "includes"},
	} {
		t.Run(name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "copy")
			sh(t, "/", "cp -a "+dir+" "+work)
			sh(t, work, tc.script)
			_, err := Open(t.Context(), work, "")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// An interrupted Make is done again, and a branch of before is no hindrance.
func TestMakeAgain(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	if err := os.Rename(p.Dir, p.Dir+".new"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Make(t.Context(), s, tree); err != nil || sh(t, p.Dir, "git status -s") != "" {
		t.Errorf("again: %v", err)
	}
	if err := p.Make(t.Context(), s, tree); err == nil {
		t.Error("a tree was replaced")
	}
	// Half a tree may hold the whole work.
	if err := os.RemoveAll(p.Keep); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Settle(t.Context(), tree); err == nil || p.Make(t.Context(), s, tree) == nil {
		t.Errorf("half a tree: %v", err)
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		t.Fatal(err)
	}
	if o := settle(t, p, tree); !o.Removed || branch(t, tree) != "" {
		t.Errorf("without a tree: %+v, branch %q", o, branch(t, tree))
	}
}
