package worktree

import (
	"context"
	"errors"
	"testing"
)

// late is a context in which there is no time for anything.
func late(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrLate)
	return ctx
}

// Without time the tree is kept, and when there is time the work comes home.
func TestSettleInAHurry(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, "git commit -q --allow-empty -m x")
	if o, err := p.Settle(late(t), tree); !errors.Is(err, ErrLate) || !p.Made() {
		t.Errorf("in a hurry: %+v, %v", o, err)
	}
	if o, err := p.Settle(t.Context(), tree); err != nil || o.Commits != 1 || !o.Whole() {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
}

// A removal for which there is no time is taken up by the next.
func TestRemoveInAHurry(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	if err := p.Remove(late(t), tree); !errors.Is(err, ErrLate) {
		t.Errorf("in a hurry: %v", err)
	}
	if err := p.Remove(t.Context(), tree); err != nil || p.Made() || branch(t, tree) != "" {
		t.Errorf("afterwards: %v", err)
	}
}
