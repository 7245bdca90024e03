package mcpproxy

import (
	"sync"
	"sync/atomic"
)

// maxIdle is how many goroutines of a connection stay when there is nothing to
// do.
const maxIdle = 16

// crew carries out the calls of one connection. Every job begins at once;
// goroutines that have finished one are used again, because a new one would
// first have to grow its stack to the depth of a call, which costs more than
// judging it.
type crew struct {
	jobs    chan func() // taken only by those that wait for it: never buffered
	quit    chan struct{}
	idle    atomic.Int32
	members sync.WaitGroup
}

func newCrew() *crew { return &crew{jobs: make(chan func()), quit: make(chan struct{})} }

// do starts a job.
func (c *crew) do(job func()) {
	select {
	case c.jobs <- job:
	default:
		c.members.Go(func() { c.work(job) })
	}
}

func (c *crew) work(job func()) {
	for {
		job()
		if c.idle.Add(1) > maxIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case job = <-c.jobs:
			c.idle.Add(-1)
		case <-c.quit:
			return
		}
	}
}

// dismiss ends the crew once its jobs are done. No job may be given after it.
func (c *crew) dismiss() {
	close(c.quit)
	c.members.Wait()
}
