package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

// notLarge fails when this process, or one that it has waited for, was larger than
// 300 MB.
func notLarge(t *testing.T) {
	t.Helper()
	var children syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil || children.Maxrss > 300<<10 {
		t.Errorf("a child took %d kB, %v", children.Maxrss, err)
	}
	if peak := alone.Peak(t); peak > 300<<20 {
		t.Errorf("this process took %d bytes", peak)
	}
}

// bomb is a shell script that makes a commit of a billion files, out of few objects.
func bomb() string {
	files := `id=$(echo x | git hash-object -w --stdin); for i in $(seq 1000); do printf '100644 blob %s\tf%d\n' $id $i; done`
	script := "tree=$({ " + files + "; } | git mktree)\n"
	for range 6 {
		script += `tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%d\n' $tree $i; done | git mktree)` + "\n"
	}
	return script + "bomb=$(git commit-tree -p HEAD -m bomb $tree)\n"
}

// A commit of a few objects that stand for a billion files does not come to the person's
// repository, nor does git take the memory for it. The tree stays, and a later commit
// without it comes over.
func TestTreeBomb(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, bomb()+"git update-ref refs/heads/ironcurtain/6f1c0a77 $bomb")
	o := settle(t, p, tree)
	if o.Removed || o.Commits != 1 || !strings.Contains(o.Stuck, "more than 500000 files") || !o.TooLarge || o.Left == "" {
		t.Errorf("got %+v", o)
	}
	if branch(t, tree) != tree.Base || !p.Made() {
		t.Error("it has come over, or is gone")
	}
	sh(t, p.Dir, "git update-ref refs/heads/ironcurtain/6f1c0a77 HEAD~1; git commit -q --allow-empty -m small")
	if o := settle(t, p, tree); o.Stuck != "" || o.Commits != 1 {
		t.Errorf("afterwards: %+v", o)
	}
	notLarge(t)
}

// A person's repository whose newest commit is such a one, because an agent has worked
// in it, gives no tree.
func TestSourceIsTreeBomb(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir, trap := person(t)
	sh(t, dir, bomb()+"git -c core.hooksPath=/dev/null update-ref refs/heads/main $bomb; rm -f "+trap)
	s, err := Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	p := Place{Dir: filepath.Join(t.TempDir(), "worktree"), Keep: filepath.Join(t.TempDir(), "worktree.git")}
	if err := p.Make(t.Context(), s, s.Tree("ironcurtain/6f1c0a77")); err == nil || !strings.Contains(err.Error(), "more than 500000 files") {
		t.Errorf("got %v", err)
	}
	notLarge(t)
}

// Files of zeros, whose objects are small, come over without being held in memory.
func TestZerosComeOver(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, "for i in 1 2 3 4 5 6 7 8; do echo $i >z$i; truncate -s 40M z$i; done; git -c core.bigFileThreshold=1m add . && git commit -q -m zeros")
	if o := settle(t, p, tree); o.Stuck != "" || o.Commits != 1 || o.Left != "" {
		t.Errorf("got %+v", o)
	}
	if got := sh(t, dir, "git cat-file -s ironcurtain/6f1c0a77:z8"); got != fmt.Sprint(40<<20) {
		t.Errorf("a file has %s bytes", got)
	}
	notLarge(t)
}

// Directories inside each other by the thousand where git keeps references, objects and
// files: they hold nothing, so the tree goes. With a file far down it stays.
func TestNestedDirectories(t *testing.T) {
	for name, kept := range map[string]bool{"nothing": false, "a file": true} {
		t.Run(name, func(t *testing.T) {
			dir, _ := person(t)
			p, tree := made(t, dir)
			for _, place := range []string{".git/refs/heads", ".git/objects", "."} {
				nest(t, filepath.Join(p.Dir, place), kept && place == ".")
			}
			o := settle(t, p, tree)
			if o.Removed == kept || (o.Left != "") != kept {
				t.Errorf("got %+v", o)
			}
			if err := p.Remove(t.Context(), tree); err != nil || p.Made() {
				t.Error(err)
			}
		})
	}
}

// nest makes a thousand directories inside each other, and a file in the last.
func nest(t *testing.T, dir string, file bool) {
	t.Helper()
	in, err := os.OpenRoot(dir)
	for range 1000 {
		if err != nil {
			t.Fatal(err)
		}
		var below *os.Root
		if err = in.Mkdir("directory", 0o700); err == nil {
			below, err = in.OpenRoot("directory")
		}
		_ = in.Close()
		in = below
	}
	if err == nil && file {
		err = in.WriteFile("file", nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
}

// What git left in our repository when it was ended at work is in nobody's way.
func TestLocksOfBefore(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Keep, "touch index.lock HEAD.lock refs/brought.lock brought-123")
	sh(t, p.Dir, "git commit -q --allow-empty -m x")
	if o := settle(t, p, tree); !o.Whole() || o.Commits != 1 {
		t.Errorf("got %+v", o)
	}
	if _, err := os.Lstat(filepath.Join(p.Keep, "brought-123")); err == nil {
		t.Error("half a pack stays")
	}
}

// What git lists is read in pieces of any size, and only so much of it.
func TestEntries(t *testing.T) {
	var got []string
	e := &entries{each: func(entry []byte) { got = append(got, string(entry)) }}
	for _, piece := range []string{"a\x00b", "", "c\x00\x00d", "\x00e"} {
		if _, err := e.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(got, ",") != "a,bc,,d" || e.count != 4 {
		t.Errorf("got %q", got)
	}
	for name, text := range map[string]string{
		"many": strings.Repeat("\x00", maxEntries+1), "a long one": strings.Repeat("x", maxEntry+1), "much": strings.Repeat(strings.Repeat("x", maxEntry)+"\x00", maxPaths/maxEntry+1),
	} {
		if _, err := (&entries{}).Write([]byte(text)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
