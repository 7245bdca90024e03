package mcpproxy

import (
	"sync"
	"sync/atomic"
)

// maxIdle is how many idle goroutines a connection keeps.
const maxIdle = 16

// workerPool carries out the calls of one connection. Every job starts at once. Goroutines
// are reused, because a new one would first have to grow its stack to the depth of a call,
// which costs more than judging the call.
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

// dismiss ends the pool when its jobs are done. Nobody may call do after it.
func (p *workerPool) dismiss() {
	close(p.quit)
	p.members.Wait()
}
