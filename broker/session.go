package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// session is one agent with everything it needs. Its goroutine, run, owns the
// proxies and the program and is the only one that takes them down.
type session struct {
	broker  *Broker
	adapter agent.Adapter
	idle    bool // the agent gets tasks instead of a terminal
	layout  layout
	owner   identity
	lease   *docker.Lease // set while the session's directory is ours
	resumed bool          // its directory is that of a former life
	// identity is what the agent knows its model proxy by; nil until it runs.
	identity []byte
	cols     int
	rows     int
	fixed    Session // what never changes; the rest is derived from tally

	cancel   context.CancelFunc // asks run to end
	spoke    chan struct{}      // closed at the first byte of the agent's terminal
	started  chan struct{}      // closed when the agent runs, or never will
	finished chan struct{}      // closed when run has removed everything

	toolsUp <-chan error // one value: whether the tool servers came up

	tally tally

	starting starting // what was done to start it

	holding sync.WaitGroup // the calls of its former life

	pinned map[string]string // remotes of the workspace as they were before the agent began

	turns sync.Mutex // one task at a time

	mu        sync.Mutex
	host      agent.Host      // what the agent was told; set while the session starts
	approvals []AutoApproval  // the latest calls that were let through automatically
	engine    *policy.Engine  // that judges its calls; set while the session starts
	log       *audit.Log      // set together with engine
	program   program         // set before started is closed
	output    *output         // of the program
	way       *mitm.Proxy     // to the model and to approved domains; nil while there is none
	account   *budget.Account // nil while there is none
	attached  bool
	// lookedBack is set once nothing of the session's former life is to be taken up.
	lookedBack bool
	reason     string
	exitCode   int
	// startedAt is the commit that shows how the workspace was at first; empty
	// while it is not known.
	startedAt string
	trouble   string // of the container engine; empty while it answers
	left      error  // what could not be taken down; set before finished is closed
	said      string // the latest notice, and when
	saidAt    time.Time
}

// repeatNotice is how long the same notice is not said again.
const repeatNotice = time.Minute

// snapshot is the session as user interfaces see it.
func (s *session) snapshot() Session {
	out := s.fixed
	_, out.State = s.tally.update(func(*tally) {})
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Reason, out.ExitCode, out.Trouble = s.reason, s.exitCode, s.trouble
	return out
}

// count changes what the session has under way and tells everybody when its
// state is another one now.
func (s *session) count(change func(*tally)) {
	if before, after := s.tally.update(change); before != after {
		s.announce()
	}
}

func (s *session) announce() {
	now := s.snapshot()
	s.broker.hub.publish(Event{Kind: EventSession, Session: &now})
}

// run lives the session's life: start the agent, wait for its end, take
// everything down. It returns when nothing of the session is left but its
// directory.
func (s *session) run(ctx context.Context) {
	defer func() {
		close(s.finished)
		s.broker.receipts.Close(string(s.fixed.ID))
		s.broker.grants.Close(string(s.fixed.ID))
	}()
	started := sync.OnceFunc(func() { close(s.started) })
	defer started()

	stack := &teardown{limit: 30 * time.Second}
	stack.push("give up the session", func(context.Context) error { return s.disown() })
	exit, err := s.live(ctx, stack, started)
	s.end(exit, err)
	// While the agent's connection is still there, it can be told.
	s.broker.approvals.Withdraw(string(s.fixed.ID), s.withdrawal(err))
	if s.snapshot().Trouble != "" {
		stack.hurry(removeProgram, engineAwayLimit)
	}
	if err := stack.run(context.WithoutCancel(ctx)); err != nil {
		s.broker.log.Error("session was not taken down cleanly", "session", s.fixed.ID, "error", err)
		s.mu.Lock()
		s.left = err
		s.mu.Unlock()
	}
}

// live brings the session up, pushing what must be undone on stack, and waits
// until the agent ends or ctx does.
func (s *session) live(ctx context.Context, stack *teardown, started func()) (docker.Exit, error) {
	begin := s.start
	if s.adapter.Host {
		begin = s.startHost
	}
	end := s.followStart(ctx)
	running, err := begin(ctx, stack)
	end(err)
	if err != nil {
		return docker.Exit{}, err
	}
	s.mu.Lock()
	s.program, s.output = running, newOutput(running, func() { close(s.spoke) })
	s.mu.Unlock()
	var reading sync.WaitGroup
	reading.Go(s.output.run)
	stack.push("stop reading", func(context.Context) error {
		s.output.end()
		reading.Wait() // the program's stream has been closed by now
		return nil
	})
	stack.push(removeProgram, running.Remove)
	s.count(func(t *tally) { t.running = true })
	started()
	if !s.adapter.Host && s.base() == "" {
		reading.Go(func() { s.noteBase(ctx) })
	}
	exit, err := s.wait(ctx, running)
	if err == nil {
		s.output.drain(ctx)
	}
	return exit, err
}

// wait waits until the agent has ended, or its tools turn out not to come up.
func (s *session) wait(ctx context.Context, running program) (docker.Exit, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	defer watching.Wait()
	ended := make(chan struct{})
	defer close(ended)
	watching.Go(func() {
		select {
		case err := <-s.toolsUp:
			if err != nil {
				cancel(err)
			}
		case <-ended:
		}
	})
	exit, err := running.Wait(ctx)
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return exit, err
}

// end records how the session ended; the tab stays until it is closed. A session
// that a person ended has no agent that died.
func (s *session) end(exit docker.Exit, err error) {
	s.mu.Lock()
	s.exitCode = exit.Code
	s.reason = exit.Reason
	if s.reason == "" {
		s.reason = "ended by itself"
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.reason = describe(err)
		s.exitCode = 1
	}
	s.mu.Unlock()
	last := s.snapshot()
	if last.State = StateDead; errors.Is(err, context.Canceled) {
		last.State, last.Reason, last.ExitCode = StateClosed, "", 0
	}
	if err := s.keep(last); err != nil {
		s.broker.log.Error("session record was not written", "session", s.fixed.ID, "error", err)
	}
	s.count(func(t *tally) { t.dead = true })
}

// withdrawal says why what still waits for a person is not carried out.
func (s *session) withdrawal(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the person ended the session while it waited"
	}
	return "the session has ended"
}

// describe is an error with its hint, on one line.
func describe(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return fmt.Sprintf("%v (%s)", err, h.Hint())
	}
	return err.Error()
}

// attach hands out the agent's terminal once it exists.
func (s *session) attach(ctx context.Context) (Terminal, error) {
	select {
	case <-s.started:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.program == nil:
		return nil, problemf("open another one with /new", "attach: the agent never started: %s", s.reason)
	case s.attached:
		return nil, problemf("use the tab that shows it", "attach: the session is attached already")
	}
	s.attached = true
	var suspends func()
	if !s.adapter.JobControl {
		suspends = func() {
			s.notice(false, "Ctrl-Z was not passed on: the agent would stop, and nothing in its container could continue it")
		}
	}
	return &terminal{
		suspends: suspends,
		program:  s.program,
		output:   s.output,
		history:  s.output.history(),
		release: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.attached = false
		},
	}, nil
}

// removeProgram is the step of taking a session down that needs the container
// engine, and engineAwayLimit how long it may take while that does not answer.
const (
	removeProgram   = "remove the program"
	engineAwayLimit = 5 * time.Second
)

// close ends the session and waits until nothing of it runs, or what is left of it
// is left to gc, which is an error.
func (s *session) close(ctx context.Context) error {
	s.cancel()
	select {
	case <-s.finished:
	case <-ctx.Done():
		return fmt.Errorf("close session: %w", context.Cause(ctx))
	}
	s.count(func(t *tally) { t.closed = true })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != nil {
		return &Problem{Err: fmt.Errorf("session %s is not gone: %w", s.fixed.ID[:8], s.left), Next: "run 'ironcurtain-mux gc' later"}
	}
	return nil
}

// over reports whether the session has ended and is taken down, as far as it could be.
func (s *session) over() bool {
	select {
	case <-s.finished:
		return true
	default:
		return false
	}
}

// save writes what the session is, so that it can be listed when no
// multiplexer runs.
func (s *session) save() error { return s.keep(s.snapshot()) }

func (s *session) keep(as Session) error {
	if s.lease == nil {
		return nil // the directory is somebody else's, or there is none
	}
	data, err := json.MarshalIndent(record{Session: as, Base: s.base()}, "", "  ")
	if err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	if err := renameio.WriteFile(s.layout.record(), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	return nil
}

// auditState tells when the audit stops and starts to work: in between, every
// call and every request is refused.
func (s *session) auditState(err error) {
	if err != nil {
		s.notice(true, fmt.Sprintf("everything is refused until the audit can be written: %s", describe(err)))
		return
	}
	s.notice(true, "the audit can be written again; calls and requests go on")
}

// notice says something to the person about this session; saying the same again
// and again would help nobody.
func (s *session) notice(urgent bool, text string) {
	s.mu.Lock()
	again := s.said == text && time.Since(s.saidAt) < repeatNotice
	if !again {
		s.said, s.saidAt = text, time.Now()
	}
	s.mu.Unlock()
	if again {
		return
	}
	s.broker.hub.publish(Event{Kind: EventNotice, Notice: &Notice{
		Session: s.fixed.ID, Urgent: urgent, Text: text,
	}})
}
