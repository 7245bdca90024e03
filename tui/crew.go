package tui

import (
	"sync"
	"time"
)

// crew owns goroutines: it starts them, waits for them, and makes sure that a
// panic in any of them gives the person's terminal back before the process
// dies of it.
type crew struct {
	restore func() // gives the terminal back; safe to call more than once

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs f in a goroutine of the crew. Once wait was called nothing is
// started any more, and start reports false.
func (c *crew) start(f func()) bool {
	if !c.enter() {
		return false
	}
	go func() {
		defer c.wg.Done()
		c.run(f)
	}()
	return true
}

// run calls f in the present goroutine under the crew's protection.
func (c *crew) run(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if c.restore != nil {
				c.restore()
			}
			panic(r)
		}
	}()
	f()
}

// enter counts the calling goroutine as one of the crew, unless it is closed;
// the caller then owes a wg.Done.
func (c *crew) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// wait closes the crew and waits for its goroutines, at most for a time. It
// reports whether all have ended.
func (c *crew) wait(patience time.Duration) bool {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		c.wg.Wait()
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
