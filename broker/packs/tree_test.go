package packs_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packs"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
)

// session is a worktree whose objects are on an engine.
type session struct {
	*engine
	place worktree.Place
	tree  worktree.Tree
}

// open makes a worktree of the repository at dir.
func open(t *testing.T, dir string) *session {
	t.Helper()
	source, err := worktree.Open(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return start(t, source, source.Tree("ironcurtain/"+filepath.Base(t.TempDir())))
}

func start(t *testing.T, source worktree.Source, tree worktree.Tree) *session {
	t.Helper()
	at := t.TempDir()
	s := &session{engine: newEngine(t, tree.Common), tree: tree, place: worktree.Place{Dir: filepath.Join(at, "worktree"), Keep: filepath.Join(at, "worktree.git")}}
	if err := s.place.Make(t.Context(), source, tree); err != nil {
		t.Fatal(err)
	}
	return s
}

// lent fills the volume and adapts the worktree to what it lacks.
func (s *session) lent() packs.Result {
	s.t.Helper()
	shown, err := s.place.Shown()
	if err != nil {
		s.t.Fatal(err)
	}
	s.plan.Tips, s.plan.More = []string{s.tree.Base}, shown
	r, err := fillPlan(s.engine)
	if err == nil {
		err = s.place.Cut(r.Cut)
	}
	if err == nil {
		err = s.place.Forget(r.Absent)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// inContainer runs a script in the worktree while the volume replaces the person's objects, as in a
// container.
func (s *session) inContainer(script string) string {
	s.t.Helper()
	objects := s.tree.Objects()
	sh(s.t, "/", "mv '"+objects+"' '"+objects+".away'; mkdir '"+objects+"'; cp -a '"+s.dir+"/.' '"+objects+"'")
	defer sh(s.t, "/", "chmod -R u+w '"+objects+"'; rm -r '"+objects+"'; mv '"+objects+".away' '"+objects+"'")
	return sh(s.t, s.place.Dir, script)
}

// works checks that git works in the worktree, and that a commit gets back to the repository.
func (s *session) works(commits string) {
	s.t.Helper()
	got := s.inContainer(`git fsck --connectivity-only --no-dangling 2>&1; git status -s
git log --format=%s | wc -l; git for-each-ref --format='%(objectname)' | git cat-file --batch-check | grep missing || true
git diff HEAD^ >/dev/null 2>&1 || true; git grep -q one; git blame a >/dev/null; git describe --always --all >/dev/null
echo new >>a; git commit -qam new; git gc -q; git fsck --no-dangling 2>&1; git log -1 --format=%s; git diff --stat HEAD^ -- a | tail -1`)
	if want := commits + "\nnew\n 1 file changed, 1 insertion(+)"; got != want {
		s.t.Errorf("in the worktree:\n%s\nwant:\n%s", got, want)
	}
	o, err := s.place.Settle(s.t.Context(), s.tree)
	if err != nil || o.Commits != 1 || !s.tree.Cloned && !o.Whole() {
		s.t.Errorf("settled: %+v, %v", o, err)
	}
}

// A worktree works with only what was sent, for every kind of repository.
func TestWorktree(t *testing.T) {
	for name, c := range map[string]struct {
		options, script string
		top             string // below the directory of all; "project"
		commits         string
	}{
		"sha1":            {"", "", "project", "2"},
		"sha256":          {"--object-format=sha256", "", "project", "2"},
		"packed":          {"", "git gc -q", "project", "2"},
		"branches":        {"", "git branch old HEAD^; git checkout -q -b side HEAD^; echo s >s; git add s; git commit -qm side; git checkout -q main; git merge -q -m merge side", "project", "4"},
		"shallow":         {"", "echo three >>a; git commit -qam three; git clone -q --depth 2 file://$PWD ../shallow", "shallow", "2"},
		"linked worktree": {"", "git worktree add -q --detach ../linked; cd ../linked; echo three >>a; git commit -qam three", "linked", "3"},
		"odd name":        {"", "cp -a . '../a $b c#'", "a $b c#", "2"},
		"replaced":        {"", "git replace HEAD $(git commit-tree -m evil HEAD^{tree}); git replace HEAD:a $(echo evil | git hash-object -w --stdin)", "project", "2"},
		"odd references":  {"", "git update-ref refs/heads/-x HEAD; git update-ref refs/heads/--all HEAD^; git update-ref 'refs/tags/ü$(id)\";x' HEAD; git update-ref refs/odd/y $(git commit-tree -m y HEAD^{tree}); git symbolic-ref refs/heads/round refs/heads/round; echo junk >.git/refs/heads/junk", "project", "2"},
		"submodule":       {"", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD^),vendor; git commit -qm submodule", "project", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, c.options)
			sh(t, dir, c.script)
			s := open(t, filepath.Join(filepath.Dir(dir), c.top))
			if r := s.lent(); r.Sent == 0 || len(r.Absent) > 0 || (len(r.Cut) > 0) != (name == "shallow") {
				t.Errorf("got %+v", r)
			}
			s.works(c.commits)
		})
	}
}

// The volume of a clone is filled from the mirror in the same way.
func TestClone(t *testing.T) {
	dir := repository(t, "")
	mirror := filepath.Join(filepath.Dir(dir), "mirror.git")
	sh(t, dir, "git init -q --bare '"+mirror+"'; git --git-dir '"+mirror+"' fetch -q . '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'")
	source, err := worktree.Clone(mirror, "", "https://git.example.org/x.git", sh(t, dir, "git rev-parse main"))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, source, source.Tree("main"))
	s.lent()
	s.works("2")
}

// Of a repository above the limit the newest history is sent, with all files of the newest commit. A
// worktree works with that, and the next session sends what is new.
func TestHistoryIsCut(t *testing.T) {
	dir := repository(t, "")
	history(t, dir, 60, 10, 50_000)
	// Merged branches: through the older one, a short path leads to old commits.
	sh(t, dir, `git checkout -q -b early main~20; echo e >e; git add e; git commit -qm early; git tag inside main~3
git checkout -q -b late main~4; echo l >l; git add l; git commit -qm late; git checkout -q main; git merge -q -m merged late; git branch side early; git merge -q -m 'merged early' early; git branch -d -q side late`)
	s := open(t, dir)
	s.plan.Limit = 2 << 20
	r := s.lent()
	if r.Sent > 2<<20+100_000 || r.Sent < 1<<20 || len(r.Cut) == 0 || !slices.Equal(r.Absent, []string{s.id("v1")}) || r.Missing() != "the oldest part of the history and a branch or tag" {
		t.Errorf("first: %+v, without %q", r, r.Missing())
	}
	t.Logf("cut at %d commits, %d bytes", len(r.Cut), r.Sent)
	if s.has(s.id("v1^{commit}")) || !s.has(s.id("main:d3/f0")) {
		t.Error("it is not the newest that was sent")
	}
	if got := s.inContainer("git fsck --connectivity-only 2>&1; git log -1 --format=%s; git tag; git checkout -q inside; git checkout -q -"); got != "merged early\ninside" {
		t.Errorf("the worktree has %q", got)
	}
	sh(t, dir, "echo more >>a; git commit -qam more")
	next := open(t, dir)
	next.engine = s.engine
	again := next.lent()
	if !again.Reused || again.Sent*100 > r.Sent || !slices.Equal(again.Cut, r.Cut) || !slices.Equal(again.Absent, r.Absent) {
		t.Errorf("second: %+v", again)
	}
	count := next.inContainer("git log --format=%s | wc -l")
	next.works(count)
	s.works(s.inContainer("git log --format=%s | wc -l"))
	// A commit that was too old for the first sessions.
	sh(t, dir, "git checkout -q v1")
	old := open(t, dir)
	old.engine = s.engine
	if r := old.lent(); r.Sent == 0 || len(r.Absent) > 0 {
		t.Errorf("an old commit: %+v", r)
	}
	old.works("1")
	// With a higher limit the rest is sent, too.
	sh(t, dir, "git checkout -q main")
	whole := open(t, dir)
	whole.engine = s.engine
	whole.plan.Limit = 64 << 20
	if r := whole.lent(); r.Reused || len(r.Cut)+len(r.Absent) > 0 {
		t.Errorf("with a higher limit: %+v", r)
	}
	whole.works(sh(t, dir, "git rev-list --count main"))
}

// Of a history that is too long to be read, only the part that was read is sent.
func TestLongHistoryIsCut(t *testing.T) {
	defer packs.LowerMaxCommits(12)()
	dir := repository(t, "")
	history(t, dir, 60, 10, 50_000)
	s := open(t, dir)
	s.plan.Limit = 2 << 20
	if r := s.lent(); len(r.Cut) != 1 || r.Sent > 1_200_000 || !s.has(s.id("main~11^{tree}")) || s.has(s.id("main~12")) {
		t.Errorf("got %+v", r)
	}
	s.works("12")
}

// When the person fetches older history, it is sent, too.
func TestHistoryBecomesLonger(t *testing.T) {
	dir := repository(t, "")
	sh(t, dir, "echo three >>a; git commit -qam three; git clone -q --depth 1 file://$PWD ../shallow")
	shallow := filepath.Join(filepath.Dir(dir), "shallow")
	s := open(t, shallow)
	if r := s.lent(); len(r.Cut) != 1 || r.Missing() != "" {
		t.Errorf("got %+v, without %q", r, r.Missing())
	}
	s.works("1")
	sh(t, shallow, "git fetch -q --unshallow")
	whole := open(t, shallow)
	whole.engine = s.engine
	if r := whole.lent(); len(r.Cut) > 0 || r.Sent == 0 {
		t.Errorf("got %+v", r)
	}
	whole.works("3")
}

// Other branches are left out before history is cut, except those within the history.
func TestBranchesAreLeftOut(t *testing.T) {
	dir := repository(t, "")
	history(t, dir, 10, 10, 50_000)
	sh(t, dir, "git branch old main~5; for b in x y z; do git checkout -q -b $b main; head -c 400000 /dev/urandom >$b; git add $b; git commit -qm $b; done; git tag -a -m x annotated old; git tag -a -m x heavy x; git checkout -q main")
	s := open(t, dir)
	s.plan.Limit = 1 << 20
	r := s.lent()
	if want := fmt.Sprintf("%d branches or tags", len(r.Absent)); r.Missing() != want {
		t.Errorf("without %q, want %q", r.Missing(), want)
	}
	if len(r.Cut) > 0 || r.Sent < 900_000 || r.Sent > 1<<20 || !slices.Equal(r.Absent, slices.Sorted(slices.Values([]string{s.id("y"), s.id("z"), s.id("heavy")}))) && !slices.Equal(r.Absent, slices.Sorted(slices.Values([]string{s.id("y"), s.id("z")}))) {
		t.Errorf("got %+v", r)
	}
	if got := s.inContainer("git for-each-ref --format='%(refname:short)' | tr '\\n' ' '"); !strings.Contains(got, "annotated") || strings.Contains(got, " y") {
		t.Errorf("the worktree names %q", got)
	}
	s.works("12")
	sh(t, dir, "git merge -q y")
	next := open(t, dir)
	next.engine = s.engine
	if r := next.lent(); len(r.Cut) > 0 || !slices.Equal(r.Absent, []string{s.id("z")}) {
		t.Errorf("after the merge: %+v", r)
	}
}
