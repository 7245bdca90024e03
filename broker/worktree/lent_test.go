package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An engine that was lent the files of one commit only, at the place of the person's
// objects, shows a tree with a short history and without the references that lead beyond
// it. What was committed there comes home to the whole one.
func TestLentWithoutHistory(t *testing.T) {
	dir, _ := person(t)
	sh(t, dir, "git -c core.hooksPath=/dev/null tag -a -m x annotated v1; git -c core.hooksPath=/dev/null branch old v1; git -c core.hooksPath=/dev/null branch same")
	p, tree := made(t, dir)
	shown, err := p.Shown()
	want := strings.Fields(sh(t, dir, "git rev-parse main old annotated"))
	if slices.Sort(want); err != nil || len(shown) != 3 || !slices.Equal(slices.Sorted(slices.Values(shown)), want) || shown[2] != sh(t, dir, "git rev-parse annotated") {
		t.Fatalf("shown %q, %v, want %q", shown, err, want)
	}
	absent := strings.Fields(sh(t, dir, "git rev-parse v1 annotated"))
	if err := p.Forget(absent); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as each start of the session does
		if err := p.Cut([]string{tree.Base}); err != nil {
			t.Fatal(err)
		}
	}
	restore := lend(t, dir, "printf '%s\\n' HEAD | git pack-objects -q --revs --shallow $O/pack/pack >/dev/null", tree.Base)
	if got := sh(t, p.Dir, "git fsck --connectivity-only 2>&1; git log --format=%s; git status -s; git for-each-ref --format='%(refname)'"); got != "two\nrefs/heads/ironcurtain/6f1c0a77\nrefs/heads/main\nrefs/heads/same" {
		t.Errorf("the tree has %q", got)
	}
	sh(t, p.Dir, "echo three >>a; git commit -qam three; git diff --exit-code HEAD; git gc -q")
	restore()
	if o := settle(t, p, tree); o.Commits != 1 || !o.Whole() {
		t.Errorf("got %+v", o)
	}
	if got := sh(t, dir, "git log --format=%s ironcurtain/6f1c0a77; git -c core.fsmonitor=false fsck 2>&1"); got != "three\ntwo\none" {
		t.Errorf("the person has %q", got)
	}
}

// A tree without history in which nothing was done goes like any other.
func TestEmptyLentTreeGoes(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	if err := p.Cut([]string{tree.Base}); err != nil {
		t.Fatal(err)
	}
	if err := p.Forget([]string{sh(t, dir, "git rev-parse v1")}); err != nil {
		t.Fatal(err)
	}
	if o := settle(t, p, tree); !o.Removed || !o.Whole() {
		t.Errorf("got %+v", o)
	}
}

// lend puts a store in the place of the person's objects, made by a script in a
// repository whose history ends at the commit. $O is the store.
func lend(t *testing.T, dir, script, end string) (restore func()) {
	t.Helper()
	objects, away := filepath.Join(dir, ".git/objects"), filepath.Join(t.TempDir(), "objects")
	sh(t, dir, "O='"+away+"'; mkdir -p $O/pack; echo "+end+" >.git/shallow; "+script+"; rm .git/shallow; mv .git/objects .git/whole; mv $O .git/objects")
	return func() { sh(t, "/", "rm -rf '"+objects+"'; mv '"+filepath.Join(dir, ".git/whole")+"' '"+objects+"'") }
}

// Without anything cut off, nothing is written; what a tree has of its own stays.
func TestCutAndForgetKeepTheRest(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	shallow, packed := filepath.Join(p.Dir, ".git/shallow"), filepath.Join(p.Dir, ".git/packed-refs")
	if err := p.Cut(nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(shallow); !os.IsNotExist(err) {
		t.Errorf("there is a list of cuts: %v", err)
	}
	other := strings.Repeat("b", 40)
	sh(t, p.Dir, "git branch mine; git tag -a -m x mine; git pack-refs --all; echo "+other+" >.git/shallow")
	if err := p.Cut([]string{tree.Base}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(sh(t, p.Dir, "cat .git/shallow")); !slices.Equal(got, slices.Sorted(slices.Values([]string{other, tree.Base}))) {
		t.Errorf("cut at %q", got)
	}
	if err := p.Forget([]string{tree.Base}); err != nil { // main was made with it, "mine" was not
		t.Fatal(err)
	}
	if got := sh(t, p.Dir, "sed 's/^[^ ]* //' .git/packed-refs | grep -v '^^' | grep refs/"); got != "refs/heads/ironcurtain/6f1c0a77\nrefs/heads/mine\nrefs/tags/mine\nrefs/tags/v1" {
		t.Errorf("%s: %s", packed, got)
	}
	if err := p.Cut([]string{"HEAD"}); err == nil {
		t.Error("a name is no commit")
	}
}

// What an agent has put in the place of the files is neither followed nor read.
func TestCutFollowsNothing(t *testing.T) {
	for name, script := range map[string]string{
		"link":       `rm -f .git/shallow .git/packed-refs; ln -s "$O" .git/shallow; ln -s "$O" .git/packed-refs`,
		"pipe":       `rm -f .git/shallow .git/packed-refs; mkfifo .git/shallow .git/packed-refs`,
		"large":      `truncate -s 17M .git/shallow .git/packed-refs`,
		"repository": `mv .git moved; ln -s moved .git`,
		"none":       `rm -rf .git`,
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			p, tree := made(t, dir)
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte(tree.Base+" refs/heads/main\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			sh(t, p.Dir, "O='"+other+"'; "+script)
			if err := p.Cut([]string{tree.Base}); err == nil {
				t.Error("cut")
			}
			if err := p.Forget([]string{tree.Base}); err == nil {
				t.Error("forgotten")
			}
			if got, err := os.ReadFile(other); err != nil || string(got) != tree.Base+" refs/heads/main\n" {
				t.Errorf("the other file has %q, %v", got, err)
			}
		})
	}
	t.Run("a link for the new file", func(t *testing.T) {
		dir, _ := person(t)
		p, tree := made(t, dir)
		other := filepath.Join(t.TempDir(), "other")
		sh(t, p.Dir, "ln -s '"+other+"' .git/shallow.lock")
		if err := p.Cut([]string{tree.Base}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(other); !os.IsNotExist(err) {
			t.Errorf("written through a link: %v", err)
		}
	})
}
