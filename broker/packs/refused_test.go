package packs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// What cannot be sent is refused with what to do, and nothing is sent or fetched.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		script string // in the repository; $N is what would be run if something were fetched
		top    string
		want   string
		next   string
	}{
		"borrows":        {"git clone -q -s . ../borrows", "borrows", "borrows objects", "repack"},
		"partial clone":  {"git config uploadpack.allowFilter true; git clone -q --no-checkout --filter=blob:none file://$PWD ../partial; git -C ../partial config remote.origin.uploadpack \"touch $N;\"", "partial", "partial clone", "refetch"},
		"damaged":        {"rm -f .git/objects/$(git rev-parse HEAD~1:a | sed 's|^..|&/|')", "project", "", "fsck"},
		"too large":      {"head -c 3000000 /dev/urandom >big; git add big; git commit -qm big", "project", "are 2 MB packed", "--worktree"},
		"shallow link":   {"ln -s config .git/shallow", "project", "shallow", "remove it"},
		"shallow object": {"echo HEAD >.git/shallow", "project", "shallow", "remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "")
			run := filepath.Join(t.TempDir(), "run")
			id := strings.TrimSpace(sh(t, dir, "N='"+run+"'; "+c.script+"; git --git-dir ../"+c.top+"/.git rev-parse HEAD 2>/dev/null || git rev-parse main"))
			e := newEngine(t, filepath.Join(filepath.Dir(dir), c.top, ".git"))
			e.plan.Tips, e.plan.Limit = []string{id}, 1<<20
			_, err := fillPlan(e)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(fault.Hint(err), c.next) {
				t.Errorf("got %v (%s)", err, fault.Hint(err))
			}
			if len(e.puts) > 0 {
				t.Errorf("put %q", e.puts)
			}
			if _, err := os.Stat(run); !os.IsNotExist(err) {
				t.Errorf("something was fetched: %v", err)
			}
		})
	}
}

// A branch that is damaged is left out, like one that is too large.
func TestDamagedBranchIsLeftOut(t *testing.T) {
	dir := repository(t, "")
	sh(t, dir, "git checkout -q -b bad; echo bad >bad; git add bad; git commit -qm bad; rm -f .git/objects/$(git rev-parse HEAD:bad | sed 's|^..|&/|'); git checkout -q main")
	s := open(t, dir)
	if r := s.lent(); len(r.Absent) != 1 || r.Absent[0] != s.id("bad") {
		t.Errorf("got %+v", r)
	}
	s.works("2")
}

// Git is given nothing but names of objects.
func TestOnlyObjects(t *testing.T) {
	dir := repository(t, "")
	for name, ids := range map[string][]string{
		"none": nil, "option": {"--all"}, "name": {"main"}, "two formats": {strings.Repeat("a", 40), strings.Repeat("a", 64)},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, filepath.Join(dir, ".git"))
			e.plan.Tips = ids
			if r, err := fillPlan(e); err == nil {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// When the context ends, so does git, and the error does not blame the repository.
func TestCanceled(t *testing.T) {
	e := newEngine(t, filepath.Join(repository(t, ""), ".git"))
	e.plan.Tips = []string{e.id("main")}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := e.fillWith(ctx); !errors.Is(err, enough) && !errors.Is(err, context.Canceled) || fault.Hint(err) != "" {
		t.Errorf("got %v (%s)", err, fault.Hint(err))
	}
}
