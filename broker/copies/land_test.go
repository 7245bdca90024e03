package copies

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLandBringsChangesHome(t *testing.T) {
	const script = `
		for f in same edited gone mode both mine; do echo $f > $f; done
		mkdir -p dir/deep; echo x > dir/deep/x; ln -s same link; echo f > becomes`
	for name, c := range map[string]struct{ agent, person, changes, origin string }{
		"nothing": {"true", "echo new > mine", "", "becomes=f both=both dir/ dir/deep/ dir/deep/x=x edited=edited gone=gone link>same mine=new mode=mode same=same"},
		"each kind": {
			"echo 2 > edited; rm gone; chmod +x mode; mkdir -p new/in; echo n > new/in/n; rm link; ln -s edited link", "echo new > mine",
			"~edited -gone ~link ~mode +new +new/in +new/in/n",
			"becomes=f both=both dir/ dir/deep/ dir/deep/x=x edited=2 link>edited mine=new mode*=mode new/ new/in/ new/in/n=n same=same",
		},
		"a file becomes a directory, and a directory a file": {
			"rm becomes; mkdir becomes; echo i > becomes/i; rm -r dir; echo d > dir", "true",
			"~becomes +becomes/i ~dir -dir/deep -dir/deep/x",
			"becomes/ becomes/i=i both=both dir=d edited=edited gone=gone link>same mine=mine mode=mode same=same",
		},
		"a file becomes a link, and a link a file": {
			"rm becomes link; ln -s same becomes; echo l > link", "true",
			"~becomes ~link",
			"becomes>same both=both dir/ dir/deep/ dir/deep/x=x edited=edited gone=gone link=l mine=mine mode=mode same=same",
		},
		"the person has something in a directory that the agent deleted": {
			"rm -r dir", "echo p > dir/p", "-dir -dir/deep -dir/deep/x",
			"becomes=f both=both dir/ dir/p=p edited=edited gone=gone link>same mine=mine mode=mode same=same",
		},
		"the person deleted the directory of a new file": {
			"echo n > dir/deep/n", "rm -r dir", "+dir/deep/n",
			"becomes=f both=both dir/ dir/deep/ dir/deep/n=n edited=edited gone=gone link>same mine=mine mode=mode same=same",
		},
		"both did the same": {
			"echo 2 > both; rm gone; mkdir d", "echo 2 > both; rm gone; mkdir d", "",
			"becomes=f both=2 d/ dir/ dir/deep/ dir/deep/x=x edited=edited link>same mine=mine mode=mode same=same",
		},
		"conflicts": {
			"echo a > both; rm edited; echo a > gone; echo a > new; rm -r dir; echo d > dir", "echo p > both; echo p > edited; rm gone; echo p > new; echo p > dir/deep/x",
			"!~both ~dir -dir/deep !-dir/deep/x !-edited !~gone !+new",
			"becomes=f both=p dir/ dir/deep/ dir/deep/x=p edited=p link>same mine=mine mode=mode new=p same=same",
		},
		"a directory is a link now": {
			"echo n > dir/n; echo 2 > dir/deep/x", "mv dir moved; ln -s moved dir", "!~dir/deep/x !+dir/n",
			"becomes=f both=both dir>moved edited=edited gone=gone link>same mine=mine mode=mode moved/ moved/deep/ moved/deep/x=x same=same",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, script)
			s.agent(c.agent)
			s.person(c.person)
			d := s.difference()
			if got := brief(d.Changes); got != c.changes {
				t.Errorf("changes %s, want %s", got, c.changes)
			}
			if _, err := Land(t.Context(), d, Which{}); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, s.origin); got != c.origin {
				t.Errorf("landed\n%s, want\n%s", got, c.origin)
			}
			for _, c := range s.difference().Changes {
				if c.Stays == "" && c.Path != "dir" && c.Path != "dir/deep" {
					t.Errorf("%s %s is still to be landed", c.What, c.Path)
				}
			}
		})
	}
}

// After a landing only new changes are listed, and a landed file that both sides change then is a
// conflict.
func TestLandAgain(t *testing.T) {
	s := newSite(t, "echo 1 > a")
	s.agent("echo 2 > a; echo b > b")
	if got := brief(s.land(Which{}).Landed); got != "~a +b" {
		t.Errorf("landed %s", got)
	}
	if got := brief(s.difference().Changes); got != "" {
		t.Errorf("left %s", got)
	}
	s.agent("echo 3 > a; rm b")
	s.person("echo mine > a")
	if got := brief(s.difference().Changes); got != "!~a -b" {
		t.Errorf("changes %s", got)
	}
	s.person("echo 3 > a") // the person has taken the agent's
	if got := brief(s.land(Which{}).Landed); got != "-b" {
		t.Errorf("landed %s", got)
	}
	s.agent("echo 4 > a")
	if got := brief(s.difference().Changes); got != "~a" {
		t.Errorf("changes %s", got)
	}
}

// Only what was shown is landed: whatever changes after the difference was made is left.
func TestLandWritesWhatWasShown(t *testing.T) {
	s := newSite(t, "for f in here there gone kind; do echo 1 > $f; done; ln -s here link; mkdir d")
	s.agent("echo 2 > here; echo 2 > there; rm gone; echo 2 > kind; echo n > new; echo n > d/n; rm link; ln -s there link; echo o > other")
	d := s.difference()
	s.agent("echo evil > here; rm other; ln -s here other; rm link; ln -s /etc/passwd link")
	s.person("echo mine > there; echo mine > gone; rm kind; mkdir kind; echo mine > new; mv d e; ln -s e d")
	l, err := Land(t.Context(), d, Which{})
	if err != nil || len(l.Landed) != 0 {
		t.Errorf("landed %s, %v", brief(l.Landed), err)
	}
	want := "d>e e/ gone=mine here=1 kind/ link>here new=mine there=mine"
	if got := tree(t, s.origin); got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	if len(l.Left) != len(d.Changes) {
		t.Errorf("left %s", brief(l.Left))
	}
}

// meddler is a context that calls a function whenever it is asked whether it has ended.
type meddler struct {
	context.Context
	do func()
}

func (m meddler) Err() error { m.do(); return nil }

// A file that somebody makes in place of a directory that is to become a file is kept.
func TestLandWhileSomebodyWrites(t *testing.T) {
	s := newSite(t, "mkdir d")
	s.agent("rmdir d; echo a > d")
	d := s.difference()
	place := filepath.Join(s.origin, "d")
	ctx := meddler{t.Context(), func() {
		if _, err := os.Lstat(place); os.IsNotExist(err) {
			if err := os.WriteFile(place, []byte("mine"), 0o600); err != nil {
				t.Error(err)
			}
		}
	}}
	if l, err := Land(ctx, d, Which{}); err != nil || brief(l.Left) != "!~d" {
		t.Errorf("left %s, %v", brief(l.Left), err)
	}
	if got := tree(t, s.origin); got != "d=mine" {
		t.Errorf("there is %s", got)
	}
}

// A file that was written just now may be written again with the same timestamp, so it is read again
// before it is replaced.
func TestJustWrittenIsReadAgain(t *testing.T) {
	s := newSite(t, "echo 1 > a")
	s.agent("echo 2 > a")
	d := s.difference()
	if at := d.Changes[0].originStamp; at != (stamp{}) {
		t.Errorf("it is believed to be as it was at %v", at)
	}
}

func TestModesOfWhatIsLanded(t *testing.T) {
	s := newSite(t, "echo a > private; chmod 600 private; echo s > script; chmod 755 script")
	s.agent("echo b > private; echo t > script; chmod -x script; echo n > new; chmod 4777 new")
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	s.land(Which{})
	for name, want := range map[string]fs.FileMode{"private": 0o600, "script": 0o644, "new": 0o750} {
		info, err := os.Lstat(filepath.Join(s.origin, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s has %v, want %v, %v", name, info.Mode(), want, err)
		}
	}
}

// The temporary file of a killed landing is removed by the next one.
func TestLandAfterOneThatWasKilled(t *testing.T) {
	s := newSite(t, "mkdir d; echo a > d/a")
	s.agent("echo b > d/a")
	s.person("echo half > d/" + temporary + filepath.Base(filepath.Dir(s.note)))
	s.land(Which{})
	if got := tree(t, s.origin); got != "d/ d/a=b" {
		t.Errorf("there is %s", got)
	}
}

func TestOneLandingAtATime(t *testing.T) {
	s := newSite(t, "echo a > a")
	s.agent("echo b > a")
	held, err := lock(s.note)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Land(t.Context(), s.difference(), Which{}); err == nil || !strings.Contains(err.Error(), "being landed already") {
		t.Errorf("landed at the same time: %v", err)
	}
	_ = held.Close()
	if got := brief(s.land(Which{}).Landed); got != "~a" {
		t.Errorf("landed %s", got)
	}
}

// A directory that was replaced by a link, or is below one now, is refused: an agent that works in a
// directory above could have done that.
func TestTheDirectoryIsNoLink(t *testing.T) {
	s := newSite(t, "echo a > a")
	s.agent("echo b > a")
	d := s.difference()
	shell(t, filepath.Dir(s.origin), "mv project moved; ln -s moved project")
	if _, err := Land(t.Context(), d, Which{}); err == nil {
		t.Error("it was landed behind a link")
	}
	if _, err := Difference(t.Context(), s.origin, s.copy, s.note); err == nil {
		t.Error("it was compared behind a link")
	}
	if text, err := d.Text(t.Context(), d.Changes[0]); err == nil {
		t.Errorf("it was shown behind a link: %s", text)
	}
	outer := filepath.Join(filepath.Dir(s.origin), "outer")
	shell(t, filepath.Dir(s.origin), "rm project; mkdir real; mv moved real/project; ln -s real outer")
	d.Origin = filepath.Join(outer, "project")
	if _, err := Land(t.Context(), d, Which{}); err == nil || !strings.Contains(err.Error(), "leads elsewhere") {
		t.Errorf("behind a link on the way: %v", err)
	}
}

// Git's ignore patterns count although .git is a file, as in a linked worktree.
func TestIgnoredWhereGitIsAFile(t *testing.T) {
	s := newSite(t, "echo 'gitdir: /nowhere' > .git; echo '*.log' > .gitignore")
	s.agent("echo l > x.log; echo a > a")
	if got := brief(s.difference().Changes); got != "+a ?+x.log" {
		t.Errorf("changes %s", got)
	}
}
