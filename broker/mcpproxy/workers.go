package mcpproxy

import (
	"sync"
	"sync/atomic"
)

// maxIdle is how many goroutines of a connection stay when there is nothing to
// do.
const maxIdle = 16

// workerPool carries out the calls of one connection. Every job begins at once;
// goroutines that have finished one are used again, because a new one would
// first have to grow its stack to the depth of a call, which costs more than
// judging it.
type workerPool struct {
	jobs    chan func() // taken only by those that wait for it: never buffered
	quit    chan struct{}
	idle    atomic.Int32
	members sync.WaitGroup
}

func newWorkerPool() *workerPool {
	return &workerPool{jobs: make(chan func()), quit: make(chan struct{})}
}

// do starts a job.
func (p *workerPool) do(job func()) {
	select {
	case p.jobs <- job:
	default:
		p.members.Go(func() { p.work(job) })
	}
}

func (p *workerPool) work(job func()) {
	for {
		job()
		if p.idle.Add(1) > maxIdle {
			p.idle.Add(-1)
			return
		}
		select {
		case job = <-p.jobs:
			p.idle.Add(-1)
		case <-p.quit:
			return
		}
	}
}

// dismiss ends the pool once its jobs are done. No job may be given after it.
func (p *workerPool) dismiss() {
	close(p.quit)
	p.members.Wait()
}
