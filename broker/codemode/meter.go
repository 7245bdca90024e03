package codemode

import (
	"fmt"
	"sync"
	"time"
)

// stopwatch measures the time while it runs.
type stopwatch struct {
	before time.Duration
	since  time.Time // zero: it is stopped
}

func (w *stopwatch) run(on bool, now time.Time) {
	switch {
	case on && w.since.IsZero():
		w.since = now
	case !on && !w.since.IsZero():
		w.before, w.since = w.before+now.Sub(w.since), time.Time{}
	}
}

func (w *stopwatch) shows(now time.Time) time.Duration {
	if w.since.IsZero() {
		return w.before
	}
	return w.before + now.Sub(w.since)
}

// meter measures what a program uses.
type meter struct {
	mu      sync.Mutex
	calls   int // under way
	waiting int // of them, those that wait for a person
	idle    stopwatch
	alone   stopwatch
}

func newMeter() *meter {
	m := &meter{}
	m.add(0, 0)
	return m
}

// add counts calls that begin or end, and those that begin or end to wait.
func (m *meter) add(calls, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls += calls
	m.waiting += waiting
	now := time.Now()
	m.idle.run(m.calls == 0, now)
	m.alone.run(m.waiting == 0, now)
}

// spent returns which limit a program has reached, or "".
func (m *meter) spent(used time.Duration, l Limits) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	switch {
	case used >= l.CPU+grace:
		return fmt.Sprintf("the program has used up its processor time of %v", l.CPU)
	case m.idle.shows(now) >= l.Idle:
		return fmt.Sprintf("the program did not end within %v, not counting the time of its calls", l.Idle)
	case m.alone.shows(now) >= l.Alone:
		return fmt.Sprintf("the program did not end within %v, not counting the time in which it waited for a person", l.Alone)
	}
	return ""
}

// Bounds of the time between two looks at a program.
const shortest, longest = 20 * time.Millisecond, 500 * time.Millisecond

// next returns after what time to look at the program again: a process with two processors cannot
// reach its limit before. The other limits need not be kept so exactly.
func (m *meter) next(used time.Duration, l Limits) time.Duration {
	return min(max((l.CPU+grace-used)/2, shortest), min(longest, l.Idle/4, l.Alone/4))
}
