package worktree

import (
	"errors"
	"testing"
	"time"
)

// A place without time for a look keeps the tree, and the next that has time brings the work.
func TestSettleInAHurry(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	sh(t, p.Dir, "git commit -q --allow-empty -m x")
	p.Look = time.Nanosecond
	if o, err := p.Settle(t.Context(), tree); !errors.Is(err, ErrLate) || !p.Made() {
		t.Errorf("in a hurry: %+v, %v", o, err)
	}
	p.Look = 0
	if o, err := p.Settle(t.Context(), tree); err != nil || o.Commits != 1 || !o.Whole() {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
}

// A removal for which there is no time is taken up by the next.
func TestRemoveInAHurry(t *testing.T) {
	dir, _ := person(t)
	p, tree := made(t, dir)
	p.Look = time.Nanosecond
	if err := p.Remove(t.Context(), tree); !errors.Is(err, ErrLate) {
		t.Errorf("in a hurry: %v", err)
	}
	p.Look = 0
	if err := p.Remove(t.Context(), tree); err != nil || p.Made() || branch(t, tree) != "" {
		t.Errorf("afterwards: %v", err)
	}
}
