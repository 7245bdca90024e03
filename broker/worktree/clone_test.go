package worktree

import (
	"path/filepath"
	"strings"
	"testing"
)

// A clone is at the remote's branch and follows it. Its commits are its own until the mirror
// has them, whatever it says itself.
func TestClone(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	remote, mirror := filepath.Join(base, "remote"), filepath.Join(base, "mirror.git")
	const url = "https://git.example.org/x.git"
	sh(t, base, `git init -q -b main remote; cd remote; echo one >a; git add .; git commit -qm one; git branch side/b; git tag v1
git init -q --bare --template= `+mirror+`; git -C `+mirror+` config remote.origin.url `+url+`; git -C `+mirror+` config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'`)
	update := func() {
		sh(t, base, "git --git-dir "+mirror+" fetch -q "+remote+" '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'")
	}
	update()
	s, err := Clone(mirror, "", url, sh(t, remote, "git rev-parse side/b"))
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	p, tree := Place{Dir: filepath.Join(at, "worktree"), Keep: filepath.Join(at, "worktree.git")}, s.Tree("side/b")
	if err := p.Make(t.Context(), s, tree); err != nil {
		t.Fatal(err)
	}
	if !tree.Lends(t.Context()) || p.SaysPushed(tree) {
		t.Error("a new clone borrows nothing, or was pushed")
	}
	if got := sh(t, p.Dir, "git status -sb; cat a; git remote get-url origin; git branch -a --format='%(refname)'; git tag"); got != "## side/b...origin/side/b\none\n"+url+"\nrefs/heads/side/b\nrefs/remotes/origin/main\nrefs/remotes/origin/side/b\nv1" {
		t.Errorf("the clone is %q", got)
	}
	sh(t, p.Dir, "echo two >>a; git commit -qam two; git update-ref refs/remotes/origin/side/b HEAD")
	if o := settle(t, p, tree); o.Commits != 1 || o.Whole() || !strings.Contains(o.Stuck, "not pushed") || !p.SaysPushed(tree) {
		t.Errorf("before the push: %+v", o)
	}
	if refs := sh(t, mirror, "git for-each-ref --format='%(refname)'"); refs != "refs/remotes/origin/main\nrefs/remotes/origin/side/b\nrefs/tags/v1" {
		t.Errorf("the mirror has %q", refs)
	}
	sh(t, remote, "git fetch -q "+p.Dir+" side/b:side/b")
	if o := settle(t, p, tree); o.Whole() {
		t.Errorf("without a look at the remote: %+v", o)
	}
	update()
	if o := settle(t, p, tree); o.Commits != 1 || !o.Whole() || o.Removed {
		t.Errorf("after the push: %+v", o)
	}
	sh(t, p.Dir, "git reset -q --hard HEAD~1; echo more >new")
	if o := settle(t, p, tree); o.Whole() || o.Removed {
		t.Errorf("with a file: %+v", o)
	}
	if err := p.Remove(t.Context(), tree); err != nil || p.Made() {
		t.Error(err)
	}
	sh(t, base, "rm -rf mirror.git/objects/*")
	if tree.Lends(t.Context()) {
		t.Error("an empty mirror lends a commit")
	}
}
