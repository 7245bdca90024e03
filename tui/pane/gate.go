package pane

import (
	"context"
	"sync"
	"time"
)

// Gate holds back the reader of the person's terminal while too much input waits for the
// focused pane, so that a paste of any size takes bounded memory. When the agent takes
// nothing at all, Gate stops holding back after a short time, because the person must
// still be able to reach the multiplexer.
type Gate struct {
	mu      sync.Mutex
	focused *InputQueue
	stalled bool          // nothing was taken from the focused queue for stallTime
	changed chan struct{} // capacity 1, lossy: another queue is focused
}

// stallTime is how long an agent may take no input before its paste is no longer held
// back. The agent's queue then refuses the rest of the paste.
const stallTime = time.Second

// NewGate makes a gate that holds nothing back.
func NewGate() *Gate { return &Gate{changed: make(chan struct{}, 1)} }

// Focus sets the queue that further input will go to; nil for none.
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

// Wait returns when the focused queue has room, when nothing was taken from it for
// stallTime, or when ctx has ended.
func (g *Gate) Wait(ctx context.Context) {
	for {
		g.mu.Lock()
		q, stalled := g.focused, g.stalled
		g.mu.Unlock()
		if q == nil || !q.crowded() {
			return
		}
		timeout := stallTime
		if stalled {
			timeout = 0
		}
		moved, open := g.await(ctx, q, timeout)
		g.mu.Lock()
		if g.focused == q {
			g.stalled = !moved
		}
		g.mu.Unlock()
		if !moved || !open {
			return
		}
	}
}

// await waits until something is taken from q or another queue is focused. It reports
// whether either happened in time, and whether ctx has not ended.
func (g *Gate) await(ctx context.Context, q *InputQueue, timeout time.Duration) (moved, open bool) {
	select {
	case <-q.room:
		return true, true
	default:
	}
	timer := time.NewTimer(timeout)
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
