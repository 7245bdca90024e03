package pane

import (
	"context"
	"sync"
	"time"
)

// Tasks owns goroutines: it starts them, waits for them, and makes sure that a
// panic in any of them gives the person's terminal back before the process
// dies of it.
type Tasks struct {
	Restore func() // gives the terminal back; safe to call more than once

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// Start runs f in a goroutine of the group. Once wait was called nothing is
// started any more, and start reports false.
func (g *Tasks) Start(f func()) bool {
	if !g.Enter() {
		return false
	}
	go func() {
		defer g.wg.Done()
		g.Run(f)
	}()
	return true
}

// Run calls f in the present goroutine under the group's protection.
func (g *Tasks) Run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if g.Restore != nil {
				g.Restore()
			}
			panic(r)
		}
	}()
	f()
}

// Enter counts the calling goroutine as one of the group, unless it is closed;
// the caller then owes a leave.
func (g *Tasks) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	return true
}

// Leave ends what enter began.
func (g *Tasks) Leave() { g.wg.Done() }

// Wait closes the group and waits for its goroutines, at most for a time. It
// reports whether all have ended.
func (g *Tasks) Wait(patience time.Duration) bool {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(ended)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// Sleep waits for d; it reports false when ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
