package pane

import (
	"context"
	"runtime/debug"
	"sync"
	"time"
)

// Tasks is a group of goroutines: it starts them, waits for them, and restores the
// person's terminal before a panic in one of them ends the process.
type Tasks struct {
	Restore func() // restores the terminal; safe to call more than once
	// Failed is called with a panic and its stack. If it is nil, the panic ends the process.
	Failed func(p any, stack []byte)

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// Start runs f in a goroutine of the group. After Wait was called it starts nothing and
// reports false.
func (g *Tasks) Start(f func()) bool {
	if !g.Add() {
		return false
	}
	go func() {
		defer g.wg.Done()
		g.Run(f)
	}()
	return true
}

// Run calls f in the calling goroutine. If f panics, Run restores the terminal and then calls
// Failed or continues the panic.
func (g *Tasks) Run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if g.Restore != nil {
				g.Restore()
			}
			if g.Failed == nil {
				panic(r)
			}
			g.Failed(r, debug.Stack())
		}
	}()
	f()
}

// Add counts the calling goroutine as one of the group until it calls Done. If the group is
// closed, Add counts nothing and reports false.
func (g *Tasks) Add() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	return true
}

// Done undoes Add.
func (g *Tasks) Done() { g.wg.Done() }

// Wait closes the group and waits for its goroutines, at most for timeout. It reports
// whether all have ended.
func (g *Tasks) Wait(timeout time.Duration) bool {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		g.wg.Wait()
		close(ended)
	}()
	timer := time.NewTimer(timeout)
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
