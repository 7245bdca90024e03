package stored

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Worktree says which repository, branch and commit a session's worktree belongs to.
type Worktree = worktree.Tree

// dropWorktree removes the worktree of a stored session. It fails if the worktree has work that is
// nowhere else, unless the caller insists.
func dropWorktree(ctx context.Context, l Layout, r Record, insist bool) error {
	if r.Worktree == nil {
		return nil
	}
	place := l.Worktree()
	if !insist {
		o, err := place.Settle(ctx, *r.Worktree)
		if err == nil && !o.Whole() {
			err = fault.New("resume the session to see the work and commit what you need, or give --force to drop it",
				"worktree %s has %s", place.Dir, cmp.Or(o.Left, "commits that nobody else has: "+o.Stuck))
		}
		if err != nil && ctx.Err() == nil && fault.Hint(err) == "" {
			err = fault.New("try again, or give --force to drop what is in the worktree", "%w", err)
		}
		if err != nil {
			return err
		}
	}
	return place.Remove(ctx, *r.Worktree)
}

// Unsettled lists the sessions whose worktrees were not settled when they ended, because there was
// no time or their multiplexer was killed. It leaves out sessions that run.
func Unsettled(home string) ([]ID, error) {
	all, err := List(home, nil)
	var ids []ID
	for _, s := range all {
		if _, err := os.Lstat(LayoutOf(home, s.ID).Unsettled()); err == nil && !s.Owned && !s.Detached {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

// Worktree returns the place of a session's worktree.
func (l Layout) Worktree() worktree.Place {
	return worktree.Place{Dir: filepath.Join(l.Dir, "worktree"), Keep: filepath.Join(l.Dir, "worktree.git")}
}
