package packs_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A repository's second session sends less than a hundredth of the first, and a third one without
// new commits sends nothing.
func TestSecondSessionSendsLittle(t *testing.T) {
	dir := repository(t, "")
	history(t, dir, 2000, 400, 1500)
	e := newEngine(t, filepath.Join(dir, ".git"))
	first := e.filled("main", "v1")
	if first.Reused || first.Sent < 3<<20 || len(first.Cut)+len(first.Absent) > 0 {
		t.Errorf("first: %+v", first)
	}
	sh(t, dir, "for i in 1 2 3; do echo $i >>a; git commit -qam more$i; done")
	second := e.filled("main", "v1")
	if !second.Reused || second.Sent == 0 || second.Sent*100 >= first.Sent {
		t.Errorf("second: %+v, after %d bytes", second, first.Sent)
	}
	t.Logf("sent %d, then %d bytes", first.Sent, second.Sent)
	if third := e.filled("main", "v1"); third.Sent != 0 || !third.Reused {
		t.Errorf("third: %+v", third)
	}
	if older := e.filled("main~500"); older.Sent != 0 { // a commit that nobody has named before
		t.Errorf("an older commit: %+v", older)
	}
	if got, want := e.count(), sh(t, dir, "git rev-list --objects --all | wc -l"); got != want {
		t.Errorf("the volume has %s objects, want %s", got, want)
	}
}

// The second session sends little, also of a repository with very many references.
func TestManyTips(t *testing.T) {
	dir := repository(t, "")
	const many = 30_000
	var blobs bytes.Buffer // which tags can name, and which are made faster than commits
	for i := range many {
		fmt.Fprintf(&blobs, "blob\ndata 8\n%08d\n", i)
	}
	feed(t, dir, blobs.Bytes(), "git fast-import --quiet")
	e := newEngine(t, filepath.Join(dir, ".git"))
	e.plan.Tips = []string{e.id("main")}
	e.plan.More = strings.Fields(sh(t, dir, "git cat-file --batch-all-objects --batch-check | grep blob | cut -d' ' -f1"))
	if r, err := fillPlan(e); err != nil || r.Sent < 20*many || len(r.Absent) > 0 {
		t.Fatalf("first: %d bytes, %v", r.Sent, err)
	}
	sh(t, dir, "echo more >>a; git commit -qam more")
	e.plan.Tips = []string{e.id("main")}
	if r, err := fillPlan(e); err != nil || !r.Reused || r.Sent > 10_000 {
		t.Errorf("second: %d bytes, %v", r.Sent, err)
	}
}

// count returns how many objects the volume has, without duplicates.
func (e *engine) count() string {
	e.t.Helper()
	return sh(e.t, e.dir, "for i in pack/*.idx; do git show-index <$i; done | cut -d' ' -f2 | sort -u | wc -l")
}

// The state is used only for the same repository and volume, while the volume has all packs, and
// while the limit allows no more.
func TestStateIsBelievedWhileTheVolumeHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  string // in the directory of volume and state
		resent bool
	}{
		"as it was":         {"", false},
		"a pack is gone":    {"rm volume/pack/*.pack", true},
		"an index is gone":  {"rm volume/pack/*.idx", true},
		"a pack is shorter": {"chmod u+w volume/pack/*; truncate -s 50 volume/pack/*.pack", true},
		"a new volume":      {"rm -r volume/pack", true},
		"no state":          {"rm state/engine.json", true},
		"broken state":      {"echo '{' >state/engine.json", true},
		"another version":   {`sed -i 's/"version":1/"version":2/' state/engine.json`, true},
		"other tips":        {`sed -i 's/"tips":\["/"tips":["--all","/' state/engine.json`, true},
		"something more":    {"echo >volume/more", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "")
			e := newEngine(t, filepath.Join(dir, ".git"))
			e.filled("main")
			before := len(e.puts)
			sh(t, filepath.Dir(e.dir), c.spoil)
			r := e.filled("main")
			if r.Reused == c.resent || !e.has(e.id("main^{tree}")) {
				t.Errorf("got %+v", r)
			}
			if c.spoil == "" && len(e.puts) != before {
				t.Errorf("put %q", e.puts[before:])
			}
		})
	}
	t.Run("another repository", func(t *testing.T) {
		e := newEngine(t, filepath.Join(repository(t, ""), ".git"))
		e.filled("main")
		e.git = filepath.Join(repository(t, ""), ".git")
		e.plan.Repository = e.git
		if r := e.filled("main"); r.Reused {
			t.Errorf("got %+v", r)
		}
	})
}

// An index comes after its pack. After an interruption only what did not arrive is sent.
func TestInterruptedFillGoesOn(t *testing.T) {
	dir := repository(t, "")
	history(t, dir, 50, 50, 1500)
	e := newEngine(t, filepath.Join(dir, ".git"))
	e.volume.fail = 2
	if _, err := e.fill("main"); !errors.Is(err, errCut) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(e.plan.State); !os.IsNotExist(err) {
		t.Errorf("remembered: %v", err)
	}
	r := e.filled("main")
	if len(e.puts) != 3 || filepath.Ext(e.puts[0]) != ".pack" || filepath.Ext(e.puts[1]) != ".idx" || e.puts[2] != e.puts[1] || r.Sent > 10_000 {
		t.Errorf("put %q, %+v", e.puts, r)
	}
	if !e.has(e.id("main~49:d0/f0")) {
		t.Error("the oldest file is not there")
	}
}

// Progress rises to the total.
func TestProgress(t *testing.T) {
	dir := repository(t, "")
	e := newEngine(t, filepath.Join(dir, ".git"))
	var told []int64
	var whole int64
	e.plan.Progress = func(sent, all int64) { told, whole = append(told, sent), all }
	r := e.filled("main")
	if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != r.Sent || whole != r.Sent {
		t.Errorf("told %d of %d, sent %d", told, whole, r.Sent)
	}
}

// The person's configuration is not read, their repository is not changed, and what no tip leads to
// is not sent.
func TestOnlyWhatTipsLeadTo(t *testing.T) {
	dir := repository(t, "")
	private := sh(t, dir, "echo private | git hash-object -w --stdin")
	e := newEngine(t, filepath.Join(dir, ".git"))
	id, tree := e.id("main"), e.id("main^{tree}")
	e.plan.Tips = []string{id}
	before := sh(t, dir, "echo '[broken' >>.git/config; find .git -type f | sort | xargs sha1sum")
	r, err := fillPlan(e)
	if err != nil || r.Sent == 0 || !e.has(id) || !e.has(tree) || e.has(private) {
		t.Errorf("got %+v, %v", r, err)
	}
	if after := sh(t, dir, "find .git -type f | sort | xargs sha1sum"); after != before {
		t.Errorf("the repository has changed: %s", after)
	}
}

// Tips that the repository no longer has, after a rebase and git gc, do no harm.
func TestTipsThatAreGone(t *testing.T) {
	dir := repository(t, "")
	history(t, dir, 100, 100, 1500)
	sh(t, dir, "echo x >>a; git commit -qam amended")
	e := newEngine(t, filepath.Join(dir, ".git"))
	e.filled("main", "main~1")
	lost := e.id("main")
	sh(t, dir, "git commit -q --amend -m other; git reflog expire --expire=now --all; git gc -q --prune=now")
	r := e.filled("main", "v1")
	if !r.Reused || r.Sent > 5000 {
		t.Errorf("got %+v", r)
	}
	e.plan.Tips, e.plan.More = []string{e.id("main")}, []string{lost}
	if r, err := fillPlan(e); err != nil || !slices.Equal(r.Absent, []string{lost}) {
		t.Errorf("got %+v, %v", r, err) // it is in the volume, but what it leads to is no more known
	}
	e.plan.Tips = []string{lost}
	if _, err := fillPlan(e); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("got %v", err)
	}
}
