package mcpproxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/pressure"
)

// stages run the calls of one server that the running server cannot carry out. Each has a
// process of its own, which sees a stage instead of the machine. There is one such process
// at a time. It is started while a call waits for a person, and ended after the call. A
// process that has carried out a call by a grant, or one that the policy allows, is kept
// for a while for more of them.
type stages struct {
	b    *backend
	open []string            // the real paths of what the running server can use
	free *semaphore.Weighted // held by the call that is carried out

	mu      sync.Mutex
	now     *staged     // started or starting; nil: none
	busy    bool        // a call is carried out in it
	waiting []*staging  // of the calls that wait for a person, oldest first
	kept    *time.Timer // ends a process that is kept; nil: it is not kept
	flooded time.Time   // when too many calls last waited
	count   int
	closed  bool
}

// staged is a process with its stage.
type staged struct {
	key   string // of its view
	dir   string
	stage *stage.Stage
	conn  *serverConn
	tools []tool
	gate  *gitauth.Gate // to the host where the person has a login; nil: there is none
	err   error
	ready chan struct{} // closed when it has started or failed
	end   context.CancelFunc
}

func newStages(b *backend) *stages {
	return &stages{b: b, open: realPaths(b.spec.Staging.Open), free: semaphore.NewWeighted(1)}
}

// expect notes that a call waits for a person, and soon starts a process for it if there is
// none. The caller calls forget when the wait is over.
func (s *stages) expect(p *staging) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, p)
	if len(s.waiting) > maxExpected {
		s.flooded = time.Now()
		if !s.busy {
			s.drop()
		}
	}
	time.AfterFunc(startDelay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.startAhead()
	})
}

// startDelay is how long a call waits before a process is started for it. A flood of calls
// shows within that time and costs no process, and no person decides faster.
const startDelay = 500 * time.Millisecond

// A process is started ahead for at most maxExpected waiting calls. When more wait, the agent
// floods the person, and nothing is started ahead until the time calm has passed.
const (
	maxExpected = 2
	calm        = 30 * time.Second
)

// forget ends expect. The process stays for a moment, because the call may be about to use it.
func (s *stages) forget(p *staging) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *staging) bool { return w == p })
	needed := slices.ContainsFunc(s.waiting, func(w *staging) bool { return s.now != nil && w.key == s.now.key })
	if s.now != nil && !s.busy && s.kept == nil && !needed {
		s.keep(decidedTime)
	}
	s.startAhead()
}

// decidedTime is how long a process that no waiting call needs is kept for the call that was
// decided.
const decidedTime = 10 * time.Second

// startAhead starts a process for the oldest waiting call if there is none, unless agents have much
// in memory. mu is held.
func (s *stages) startAhead() {
	if s.now == nil && !s.busy && len(s.waiting) > 0 && time.Since(s.flooded) > calm && !pressure.High() && !s.closed {
		s.now = s.launch(s.waiting[0])
	}
}

// keep ends the present process after a while, unless a call uses it before. mu is held.
func (s *stages) keep(d time.Duration) {
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.kept == timer && !s.busy {
			s.drop()
			s.startAhead()
		}
	})
	s.kept = timer
}

// stopTimer stops the timer that would end the present process. mu is held.
func (s *stages) stopTimer() {
	if s.kept != nil {
		s.kept.Stop()
		s.kept = nil
	}
}

// drop ends the present process without waiting for its end. mu is held.
func (s *stages) drop() {
	s.stopTimer()
	if at := s.now; at != nil {
		at.end()
		s.now = nil
	}
}

// take returns a process for a call, which has it for itself until give.
func (s *stages) take(ctx context.Context, p *staging) (*staged, error) {
	if err := s.free.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	if s.now != nil && (s.now.key != p.key || s.now.dead()) {
		s.drop()
	}
	if s.now == nil && !s.closed {
		s.now = s.launch(p)
	}
	s.stopTimer()
	at := s.now
	s.busy = at != nil
	s.mu.Unlock()
	if at == nil {
		s.free.Release(1)
		return nil, errors.New("the session is ending")
	}
	var err error
	select {
	case <-at.ready:
		err = at.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.give(at, false)
		return nil, err
	}
	return at, nil
}

// give ends a call's use of a process, and ends the process, too, unless it is to be kept.
func (s *stages) give(at *staged, keep bool) {
	if keep && at.stage.Clear(s.b.ctx) != nil {
		keep = false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if s.now == at && keep && !s.closed {
		s.keep(s.b.proxy.limits.Idle)
	} else if s.now == at {
		s.drop()
	}
	s.startAhead()
	s.free.Release(1)
}

// close ends everything. The processes end with the backend's keeper.
func (s *stages) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.drop()
}

// launch starts a process for a plan, which ends when its end function is called. mu is held.
func (s *stages) launch(p *staging) *staged {
	s.count++
	ctx, cancel := context.WithCancel(s.b.ctx)
	at := &staged{
		key: p.key, dir: filepath.Join(s.b.proxy.config.StageDir, s.b.spec.Name+"-"+rand.Text()[:8]),
		ready: make(chan struct{}), end: cancel,
	}
	number := s.count
	s.b.keeper.Go(func() {
		at.err = at.start(ctx, s.b, p, number)
		close(at.ready)
		if at.err == nil {
			select {
			case <-ctx.Done():
			case <-at.conn.peer.Done():
			}
		}
		cancel()
		at.clear()
	})
	return at
}

// start makes the stage and starts the server on it.
func (at *staged) start(ctx context.Context, b *backend, p *staging, number int) error {
	ctx, cancel := context.WithTimeout(ctx, b.proxy.limits.Start)
	defer cancel()
	if err := os.MkdirAll(at.dir, 0o700); err != nil {
		return fmt.Errorf("make a stage: %w", err)
	}
	var err error
	if at.stage, err = stage.Open(at.dir); err != nil {
		return err
	}
	if err := at.stage.Prepare(p.files); err != nil {
		return err
	}
	spec := b.stagedSpec(p, at.dir, number)
	if p.login != nil {
		if at.gate, err = p.login.open(context.WithoutCancel(ctx), at.dir+".login"); err != nil {
			return err
		}
		spec.Outlet = outlet(at.gate, spec.Env)
	}
	process, err := b.proxy.config.Sandbox.Start(ctx, spec)
	if err != nil {
		return err
	}
	at.conn = newServerConn(process, b.proxy.limits, b.proxy.room, []string{"/"})
	if at.tools, err = b.greet(ctx, at.conn); err != nil {
		return fmt.Errorf("start server %s for a call outside the workspace: %w%s", b.spec.Name, err, b.lastWords(process))
	}
	if err := b.record(ctx, process, "server started for a call outside the workspace"); err != nil {
		return &unrecordedError{err}
	}
	return nil
}

// unrecordedError is the error of a process whose start could not be recorded.
type unrecordedError struct{ err error }

func (e *unrecordedError) Error() string { return e.err.Error() }

// stagedSpec returns how the server is started on a stage. It may use everything that it sees
// there, so its root is "/".
func (b *backend) stagedSpec(p *staging, dir string, number int) sandbox.Spec {
	spec := b.spec
	spec.Name = fmt.Sprintf("%s-%d", spec.Name, number)
	spec.View = p.view(dir)
	for _, path := range spec.Staging.Seen {
		if info, err := os.Stat(path); err == nil {
			spec.View.Binds = append(spec.View.Binds, stage.Bind{Path: path, Info: info})
		}
	}
	if len(spec.Roots) > 0 {
		spec.Roots = []string{"/"}
	}
	if name := spec.Staging.Base; name != "" {
		spec.Env = maps.Clone(spec.Env)
		spec.Env[name] = p.files.Base()
	}
	spec.Sandbox.Network.AllowedDomains = p.hosts
	return spec
}

// dead reports whether the process has ended or could not be started.
func (at *staged) dead() bool {
	select {
	case <-at.ready:
	default:
		return false
	}
	if at.err != nil {
		return true
	}
	select {
	case <-at.conn.peer.Done():
		return true
	default:
		return false
	}
}

// clear ends the process and removes the stage.
func (at *staged) clear() {
	if at.conn != nil {
		_ = at.conn.Close()
		at.conn.dropGivenUp()
	}
	if at.gate != nil {
		at.gate.Close()
	}
	if at.stage != nil {
		_ = at.stage.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	_ = dirtree.Remove(ctx, at.dir) // what is left goes with the session's directory
	_ = dirtree.Remove(ctx, at.dir+".login")
}

// permit sets whether git may log in from now on. It returns why the gate or the remote last
// refused something, or nil.
func (at *staged) permit(yes bool) error {
	if at.gate == nil {
		return nil
	}
	refusal := at.gate.Refusal()
	at.gate.Permit(yes)
	return refusal
}

// removeTime bounds the removal of a stage.
const removeTime = 5 * time.Second

// offers reports whether the process defines a tool as it was pinned.
func (at *staged) offers(c *catalog, t target) bool {
	return slices.ContainsFunc(at.tools, func(defined tool) bool {
		return defined.Name == t.tool && c.pins[t] == defined.fingerprint()
	})
}
