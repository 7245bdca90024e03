package pane

import (
	"context"
	"sync"
	"time"
)

// Gate holds back the reader of the person's terminal while the focused pane
// has more input waiting than it should: that is what keeps a paste of any size
// within bounds. It never holds back for long when the agent takes nothing at
// all, because then the person must still be able to reach the multiplexer.
type Gate struct {
	mu      sync.Mutex
	focused *InputQueue
	stalled bool          // the focused queue has not moved for a whole stall
	changed chan struct{} // capacity 1, lossy: another queue is focused
}

// stall is how long an agent may take no input before the rest of a paste is
// no longer held back for it, and is refused by its queue instead.
const stall = time.Second

// NewGate makes a gate that holds nothing back.
func NewGate() *Gate { return &Gate{changed: make(chan struct{}, 1)} }

// Focus says which queue further input will go to; nil for none.
func (g *Gate) Focus(q *InputQueue) {
	g.mu.Lock()
	same := g.focused == q
	if !same {
		g.focused, g.stalled = q, false
	}
	g.mu.Unlock()
	if !same {
		signal(g.changed)
	}
}

// Wait returns when the focused queue has room, or has not moved for a while,
// or ctx has ended.
func (g *Gate) Wait(ctx context.Context) {
	for {
		g.mu.Lock()
		q, stalled := g.focused, g.stalled
		g.mu.Unlock()
		if q == nil || !q.crowded() {
			return
		}
		patience := stall
		if stalled {
			patience = 0
		}
		moved, alive := g.await(ctx, q, patience)
		g.mu.Lock()
		if g.focused == q {
			g.stalled = !moved
		}
		g.mu.Unlock()
		if !moved || !alive {
			return
		}
	}
}

// await waits until q moves or the focus does. It reports false when neither
// happened in time, and whether ctx still lives.
func (g *Gate) await(ctx context.Context, q *InputQueue, patience time.Duration) (moved, alive bool) {
	select {
	case <-q.room:
		return true, true
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-q.room:
		return true, true
	case <-g.changed:
		return true, true
	case <-timer.C:
		return false, true
	case <-ctx.Done():
		return false, false
	}
}
