package worktree

import (
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// A tree whose parts lead to a repository that the agent was never shown: nothing of
// that one comes to the person's, where the agent could read it next time.
func TestTreeLeadsElsewhere(t *testing.T) {
	for name, script := range map[string]string{
		"reference": `rm -rf .git/objects/pack; ln -s "$O/.git/objects/"* .git/objects/ 2>/dev/null || true
rm -f .git/refs/heads/ironcurtain/6f1c0a77; echo 'ref: refs/heads/x' >.git/refs/heads/ironcurtain/6f1c0a77; ln -s "$O/.git/refs/heads/main" .git/refs/heads/x`,
		"packs": `git -C "$O" -c core.fsmonitor=false -c core.hooksPath=/dev/null repack -qad; rm -rf .git/objects/pack; ln -s "$O/.git/objects/pack" .git/objects/
git -C "$O" rev-parse main >.git/refs/heads/ironcurtain/6f1c0a77`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			other, trap := person(t)
			sh(t, other, "echo private >p; git -c core.fsmonitor=false -c core.hooksPath=/dev/null add p; git -c core.fsmonitor=false -c core.hooksPath=/dev/null commit -qm private")
			private := sh(t, other, "git rev-parse main")
			p, tree := made(t, dir)
			sh(t, p.Dir, "O='"+other+"'; "+script+"; rm -f '"+trap+"'")
			o, err := p.Settle(t.Context(), tree)
			if err == nil && (o.Removed || o.Whole()) {
				t.Errorf("got %+v", o)
			}
			if exec.Command("git", "--git-dir", filepath.Join(dir, ".git"), "cat-file", "-e", private).Run() == nil || branch(t, tree) == private {
				t.Errorf("the other repository's commit has come to the person's: %+v, %v", o, err)
			}
		})
	}
}

// A repository in which an agent has worked without a worktree: a tree made of it would
// show the next agent what a link leads to.
func TestSourceLeadsElsewhere(t *testing.T) {
	for name, script := range map[string]string{
		"objects":   `ln -s "$O/.git/objects/pack" .git/objects/pack/x`,
		"packs":     `rmdir .git/objects/pack; ln -s "$O/.git/objects/pack" .git/objects/pack`,
		"reference": `ln -s "$O/.git/refs/heads/main" .git/refs/heads/x`,
		"refs":      `rm -r .git/refs; ln -s "$O/.git/refs" .git/refs`,
		"HEAD":      `rm .git/HEAD; ln -s "$O/.git/HEAD" .git/HEAD`,
		"shallow":   `ln -s "$O/a" .git/shallow`,
		"pipe":      `mkfifo .git/shallow`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			other, _ := person(t)
			sh(t, dir, "O='"+other+"'; "+script)
			_, err := Open(t.Context(), dir, "")
			if hinted := (*fault.Error)(nil); !errors.As(err, &hinted) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Another agent, which works in the person's repository itself, makes it lead elsewhere
// while there is a tree of it.
func TestLenderLeadsElsewhere(t *testing.T) {
	for name, script := range map[string]string{
		"objects":  `mv .git/objects .git/moved; ln -s "$O/.git/objects" .git/objects`,
		"a pack":   `ln -s "$O/.git/objects/pack" .git/objects/pack/x`,
		"together": `mv .git moved; ln -s "$O/.git" .git`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			other, _ := person(t)
			p, tree := made(t, dir)
			if err := tree.Plain(t.Context()); err != nil {
				t.Fatal(err)
			}
			sh(t, p.Dir, "git commit -q --allow-empty -m x")
			sh(t, dir, "O='"+other+"'; "+script)
			if err := tree.Plain(t.Context()); err == nil {
				t.Error("it would be shown")
			}
			if o, err := p.Settle(t.Context(), tree); err == nil || !p.Made() {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// Pipes in the places of files that git opens, on which it would wait for ever: git does
// not begin. What was committed comes over all the same, or the tree is refused.
func TestTreeOfPipes(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		refused bool
	}{
		"ignore":      {"mkdir new; touch new/f; mkfifo new/.gitignore", false},
		"attributes":  {"mkfifo .gitattributes; touch -d 2001-01-01 a", false},
		"inner HEAD":  {"git init -q new; rm new/.git/HEAD; mkfifo new/.git/HEAD", false},
		"object":      {"mkdir .git/objects/zz; mkfifo .git/objects/zz/0", true},
		"pack":        {"mkfifo .git/objects/pack/pack-1.idx", true},
		"reference":   {"mkfifo .git/refs/heads/x", true},
		"packed-refs": {"rm .git/packed-refs; mkfifo .git/packed-refs", true},
		"HEAD":        {"rm .git/HEAD; mkfifo .git/HEAD", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			p, tree := made(t, dir)
			sh(t, p.Dir, "git commit -q --allow-empty -m x; mkdir -p .git/objects/pack; "+c.script)
			o, err := p.Settle(t.Context(), tree)
			if (err != nil) != c.refused || err == nil && (o.Commits != 1 || o.Stuck != "" || o.Left == "") || !p.Made() {
				t.Errorf("got %+v, %v", o, err)
			}
			sh(t, p.Dir, "find . -type p -delete; test -f .git/HEAD || echo ref: refs/heads/ironcurtain/6f1c0a77 >.git/HEAD")
			if o, err := p.Settle(t.Context(), tree); err != nil || o.Commits != 1 || o.Stuck != "" {
				t.Errorf("afterwards: %+v, %v", o, err)
			}
		})
	}
}

// Of commits that git's check complains of, nothing stays in the person's repository,
// however often they are tried.
func TestRefusedCommitsLeaveNothing(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	id, err := hex.DecodeString(sh(t, p.Dir, "git rev-parse HEAD:a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Keep, "tree"), append([]byte("100644 .git\x00"), id...), 0o600); err != nil {
		t.Fatal(err)
	}
	sh(t, p.Dir, `tree=$(git hash-object --literally -t tree -w '`+p.Keep+`/tree')
git update-ref refs/heads/ironcurtain/6f1c0a77 $(git commit-tree -p HEAD -m refused $tree)`)
	before := sh(t, dir, "find .git/objects | sort")
	for range 2 {
		if _, err := p.Settle(t.Context(), tree); err == nil {
			t.Error("nothing was complained of")
		}
	}
	if after := sh(t, dir, "find .git/objects | sort"); after != before || branch(t, tree) != tree.Base {
		t.Errorf("there is more than before: %s", after)
	}
}

// More branches than fit into the arguments of a program.
func TestManyBranches(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, `git commit -q --allow-empty -m mine
id=$(git commit-tree -m other HEAD^{tree})
seq -f "$id refs/heads/b%.0f" 60000 >.git/packed-refs`)
	if o := settle(t, p, tree); o.Commits != 1 || o.Stuck != "" || o.Left != "commits on other branches" {
		t.Errorf("got %+v", o)
	}
}

// What to do about too many references is said, and helps.
func TestManyReferences(t *testing.T) {
	dir, _ := person(t)
	sh(t, dir, "id=$(git rev-parse HEAD); mkdir -p .git/refs/tags/many; cd .git/refs/tags/many; for i in $(seq 10001); do echo $id >$i; done")
	s, err := Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	p := Place{Dir: filepath.Join(t.TempDir(), "worktree"), Keep: filepath.Join(t.TempDir(), "worktree.git")}
	if err := p.Make(t.Context(), s, s.Tree("mine")); err == nil || !strings.Contains(err.Error(), "10000 references") || !strings.Contains(fault.Hint(err), "git pack-refs --all") {
		t.Fatalf("got %v (%s)", err, fault.Hint(err))
	}
	sh(t, dir, "git -c core.hooksPath=/dev/null pack-refs --all")
	if err := p.Make(t.Context(), s, s.Tree("mine")); err != nil {
		t.Error(err)
	}
}

// A commit that only the HEAD of a working tree leads to, which was made of the tree's
// repository elsewhere, is not lost with it.
func TestCommitInAnotherWorkingTree(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, `git commit -q --allow-empty -m mine; git worktree add -q --detach ../other; git -C ../other commit -q --allow-empty -m hidden`)
	if o := settle(t, p, tree); o.Commits != 1 || o.Left != "working trees of its own" {
		t.Errorf("got %+v", o)
	}
	sh(t, p.Dir, "git worktree remove --force ../other")
	if o := settle(t, p, tree); !o.Whole() || o.Commits != 1 {
		t.Errorf("afterwards: %+v", o)
	}
}
