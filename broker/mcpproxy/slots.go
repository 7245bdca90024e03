package mcpproxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// patience is how long a call waits for slots that only given-up calls have, before the server is
// started again.
const patience = time.Second

// slots bound the calls that a server works on. A call that was given up, because its
// agent took it back or its time was over, keeps its slot until the server has answered or
// ended, because the server may still work on it.
type slots struct {
	free *semaphore.Weighted

	mu   sync.Mutex
	live int // calls with a slot that somebody waits for
}

// take waits for the slots of a call. While only calls that were given up use the slots, it calls
// unblock every second.
func (s *slots) take(ctx context.Context, share int64, unblock func()) (waited bool, err error) {
	if !s.free.TryAcquire(share) {
		waited = true
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			s.watch(stop, unblock)
		}()
		err := s.free.Acquire(ctx, share)
		close(stop)
		<-done
		if err != nil {
			return waited, context.Cause(ctx)
		}
	}
	s.mu.Lock()
	s.live++
	s.mu.Unlock()
	return waited, nil
}

func (s *slots) watch(stop <-chan struct{}, unblock func()) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		s.mu.Lock() // whoever gets a slot meanwhile finds the server ended
		if s.live == 0 {
			unblock()
		}
		s.mu.Unlock()
	}
}

// give ends a call that somebody waited for, and frees its slots except those to keep.
func (s *slots) give(share, keep int64) {
	s.mu.Lock()
	s.live--
	s.mu.Unlock()
	s.free.Release(share - keep)
}

// maxIdle is how many idle goroutines a connection keeps.
const maxIdle = 16

// workerPool carries out the calls of one connection. Every job starts at once. Goroutines
// are reused, because a new one would first have to grow its stack to the depth of a call,
// which costs more than judging the call.
type workerPool struct {
	jobs    chan func() // unbuffered: received only by an idle goroutine
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
