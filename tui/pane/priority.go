package pane

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// headStart is how long the output of hidden panes waits for the echo of a key.
	headStart = 2 * time.Millisecond
	// longestYield is the longest time that this output waits when one key follows another.
	longestYield = 10 * time.Millisecond
	// yieldStep is the time between two checks whether the echo was painted.
	yieldStep = 200 * time.Microsecond
	// typingPause is how long after a key the person still counts as typing.
	typingPause = 500 * time.Millisecond
)

// Priority lets a key and its echo go before the output of hidden panes, which could
// otherwise keep all processors busy. Its times are counted from began.
type Priority struct {
	until atomic.Int64 // when to stop waiting for an echo; 0 when none is expected
	typed atomic.Int64 // when the last key came; 0 before the first
}

// began is the zero point of Priority's times, so that they fit an atomic integer.
var began = time.Now()

// keyTyped records that a key is sent to an agent.
func (r *Priority) keyTyped() {
	now := time.Since(began)
	r.typed.Store(int64(now))
	r.until.Store(int64(now + headStart))
}

// EchoPainted records that the echo has been painted.
func (r *Priority) EchoPainted() {
	if r.until.Load() != 0 {
		r.until.Store(0)
	}
}

// yield waits while the echo of a key is expected, at most for longestYield. It reports
// false when ctx has ended.
func (r *Priority) yield(ctx context.Context) bool {
	for waited := time.Duration(0); waited < longestYield; waited += yieldStep {
		until := r.until.Load()
		if until == 0 || time.Since(began) >= time.Duration(until) {
			break
		}
		if !Sleep(ctx, yieldStep) {
			return false
		}
	}
	return ctx.Err() == nil
}

// pause is called after output of a hidden pane was handled; took is how long that was.
// While somebody types, pause waits for the same time, at most for longestYield, so that a
// processor is free for the next key. It reports false when ctx has ended.
func (r *Priority) pause(ctx context.Context, took time.Duration) bool {
	typed := time.Duration(r.typed.Load())
	if typed == 0 || time.Since(began)-typed > typingPause {
		return ctx.Err() == nil
	}
	return Sleep(ctx, min(took, longestYield))
}
