package tui

import (
	"sync"
	"time"
)

// taskGroup owns goroutines: it starts them, waits for them, and makes sure that a
// panic in any of them gives the person's terminal back before the process
// dies of it.
type taskGroup struct {
	restore func() // gives the terminal back; safe to call more than once

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs f in a goroutine of the group. Once wait was called nothing is
// started any more, and start reports false.
func (g *taskGroup) start(f func()) bool {
	if !g.enter() {
		return false
	}
	go func() {
		defer g.wg.Done()
		g.run(f)
	}()
	return true
}

// run calls f in the present goroutine under the group's protection.
func (g *taskGroup) run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if g.restore != nil {
				g.restore()
			}
			panic(r)
		}
	}()
	f()
}

// enter counts the calling goroutine as one of the group, unless it is closed;
// the caller then owes a wg.Done.
func (g *taskGroup) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Add(1)
	return true
}

// wait closes the group and waits for its goroutines, at most for a time. It
// reports whether all have ended.
func (g *taskGroup) wait(patience time.Duration) bool {
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
