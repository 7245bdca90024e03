package tui

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
)

// rightOfWay lets a key and its echo go before the output of panes that nobody
// sees: those may flood, and there are only so many processors.
type rightOfWay struct {
	until atomic.Int64 // since began
}

// began is what times are counted from, in order to be kept in one word.
var began = time.Now()

// take says that a key is on its way.
func (r *rightOfWay) take() { r.until.Store(int64(time.Since(began) + headStart)) }

// give says that the echo has been painted.
func (r *rightOfWay) give() {
	if r.until.Load() != 0 {
		r.until.Store(0)
	}
}

// yield waits while a key is on its way. It reports false when ctx has ended.
func (r *rightOfWay) yield(ctx context.Context) bool {
	for waited := time.Duration(0); waited < longestYield; waited += yieldStep {
		until := r.until.Load()
		if until == 0 || time.Since(began) >= time.Duration(until) {
			break
		}
		if !sleep(ctx, yieldStep) {
			return false
		}
	}
	return ctx.Err() == nil
}
