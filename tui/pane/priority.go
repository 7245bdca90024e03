package pane

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// headStart is how long a key may take to its echo before the output of
	// panes that nobody sees is dealt with again.
	headStart = 2 * time.Millisecond
	// longestYield bounds how long that output waits for keys that come one
	// after the other.
	longestYield = 10 * time.Millisecond
	// yieldStep is how often it is looked whether the echo has come.
	yieldStep = 200 * time.Microsecond
	// typingPause is how long after a key another one is to be expected.
	typingPause = 500 * time.Millisecond
)

// Priority lets a key and its echo go before the output of panes that nobody
// sees: those may flood, and there are only so many processors.
type Priority struct {
	until atomic.Int64 // since began; 0 when no echo is awaited
	typed atomic.Int64 // when the last key came, since began; 0 before the first
}

// began is what times are counted from, in order to be kept in one word.
var began = time.Now()

// keyTyped says that a key is on its way.
func (r *Priority) keyTyped() {
	now := time.Since(began)
	r.typed.Store(int64(now))
	r.until.Store(int64(now + headStart))
}

// EchoPainted says that the echo has been painted.
func (r *Priority) EchoPainted() {
	if r.until.Load() != 0 {
		r.until.Store(0)
	}
}

// yield waits while a key is on its way. It reports false when ctx has ended.
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

// rest follows a piece of such output, which has taken some time to deal with.
// While somebody types it rests for as long at least, so that the next key finds a
// processor free. It reports false when ctx has ended.
func (r *Priority) rest(ctx context.Context, took time.Duration) bool {
	typed := time.Duration(r.typed.Load())
	if typed == 0 || time.Since(began)-typed > typingPause {
		return ctx.Err() == nil
	}
	return Sleep(ctx, min(took, longestYield))
}
