package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Run starts the agent, waits for its end, and takes everything down except the session's directory.
func (s *Session) Run() {
	ctx := s.life
	defer s.cancel()
	defer func() {
		close(s.finished)
		s.deps.Receipts.Close(s.fixed.ID)
		if err := s.deps.Grants.Close(s.fixed.ID); err != nil {
			s.deps.Log.Error("remove the grants of an ended session", "session", s.fixed.ID, "error", err)
		}
	}()
	started := sync.OnceFunc(func() { close(s.started) })
	defer started()

	stack := &teardown{limit: 30 * time.Second}
	stack.push("release the session's lease", func(context.Context) error { return s.Release() })
	exit, err := s.live(ctx, stack, started)
	s.end(exit, err)
	if s.deps.Approvals.Withdraw(s.fixed.ID, s.withdrawal(err)) > 0 {
		s.deliver(ctx)
	}
	if s.Info().Trouble != "" {
		stack.hurry(removeProgram, engineAwayLimit)
	}
	if err := stack.run(context.WithoutCancel(ctx)); err != nil {
		s.deps.Log.Error("take down the session", "session", s.fixed.ID, "error", err)
		s.mu.Lock()
		s.cleanupErr = err
		s.mu.Unlock()
	}
}

// live starts the session and waits until the agent or ctx ends. It pushes the steps of the teardown
// on stack.
func (s *Session) live(ctx context.Context, stack *teardown, started func()) (docker.Exit, error) {
	begin := s.start
	switch s.adapter.Place {
	case agent.OnHost:
		begin = s.startHost
	case agent.InProcess:
		begin = s.startProcess
	case agent.InContainer:
	}
	end := s.followStart(ctx)
	err := s.awaitPlace(ctx)
	var running program
	if err == nil {
		running, err = begin(ctx, stack)
	}
	end(err)
	if err != nil {
		return docker.Exit{}, err
	}
	s.mu.Lock()
	s.program, s.output = running, newOutput(running, func() { close(s.firstOutput) })
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
	if s.Contained() && s.base() == "" {
		reading.Go(func() { s.noteBase(ctx) })
	}
	if s.fresh && !s.idle && !s.adapter.Foreign {
		reading.Go(s.offerToolchains)
	}
	exit, err := s.wait(ctx, running)
	if err == nil {
		s.output.drain(ctx)
	}
	return exit, err
}

// wait waits until the agent has ended, or its tool servers have failed to start.
func (s *Session) wait(ctx context.Context, running program) (docker.Exit, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer func() { cancel(nil); watching.Wait() }()
	watching.Go(func() {
		select {
		case err := <-s.toolsUp:
			if err != nil {
				cancel(err)
			}
		case <-ctx.Done():
		}
	})
	if s.adapter.Place != agent.OnHost {
		watching.Go(func() { s.watchRepository(ctx) })
	}
	if container, ok := running.(interface{ FollowMemory(context.Context, func()) }); ok {
		watching.Go(func() { container.FollowMemory(ctx, func() { s.notice(true, memoryFull) }) })
	}
	exit, err := running.Wait(ctx)
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return exit, err
}

// memoryFull is the notice when the kernel has ended the agent, or a program that it started, because
// of the container's memory limit.
const memoryFull = "the memory limit was hit: the kernel ended a program in the container (resources.memoryMb in config.json raises it)"

// end records how the session ended. Its tab stays until it is closed. A session that the person ended
// is recorded as closed, not as dead, and so is a shell that the person has exited.
func (s *Session) end(exit docker.Exit, err error) {
	s.mu.Lock()
	s.exitCode = exit.Code
	s.reason = exit.Reason
	if s.reason == "" {
		s.reason = "ended by itself"
	}
	switch {
	case errors.Is(err, context.Canceled):
		s.reason = "a person ended it"
	case err != nil:
		s.reason, s.exitCode = describe(err), 1
	}
	s.mu.Unlock()
	last, left := s.Info(), err == nil && s.shellExited(exit)
	if last.State = stored.StateDead; left || errors.Is(err, context.Canceled) {
		last.State, last.Reason, last.ExitCode = stored.StateClosed, "", 0
	}
	if err := s.writeRecord(last); err != nil {
		s.deps.Log.Error("write the session record", "session", s.fixed.ID, "error", err)
	}
	s.count(func(t *tally) { t.dead, t.closed = true, left })
}

// shellExited reports whether the person has exited a shell, and it reported no failure. Only shells
// have job control.
func (s *Session) shellExited(exit docker.Exit) bool {
	return s.adapter.JobControl && !s.idle && exit.Code == 0 && exit.Reason == ""
}

// withdrawal returns the reason why calls that still wait for the person are withdrawn.
func (s *Session) withdrawal(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the person ended the session while it waited"
	}
	return "the session has ended"
}

// deliverLimit is how long the end of a session waits until the agent has the answers to its withdrawn
// calls.
const deliverLimit = 500 * time.Millisecond

// deliver sends the agent the answers to its calls before it is ended.
func (s *Session) deliver(ctx context.Context) {
	s.mu.Lock()
	proxy := s.tools
	s.mu.Unlock()
	if proxy == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverLimit)
	defer cancel()
	proxy.Deliver(ctx)
}

const (
	removeProgram   = "remove the program" // the step of the teardown that needs the engine
	engineAwayLimit = 5 * time.Second      // how long that step may take while the engine does not answer
)

// Stop asks the session to end, without waiting.
func (s *Session) Stop() { s.cancel() }

// Close ends the session and waits until it is taken down. It returns an error if something could not
// be removed; gc removes it later.
func (s *Session) Close(ctx context.Context) error {
	s.cancel()
	select {
	case <-s.finished:
	case <-ctx.Done():
		return fmt.Errorf("close session: %w", context.Cause(ctx))
	}
	s.count(func(t *tally) { t.closed = true })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cleanupErr != nil {
		return fault.New("run 'ironcurtain-mux gc' later", "session %s is not gone: %w", s.fixed.ID[:8], s.cleanupErr)
	}
	return nil
}

// Ended returns a channel that is closed when the session's teardown is over, even if steps of it
// failed.
func (s *Session) Ended() <-chan struct{} { return s.finished }

// Over reports whether the session's teardown is over.
func (s *Session) Over() bool {
	select {
	case <-s.finished:
		return true
	default:
		return false
	}
}

// teardown undoes the steps of a start in reverse order. It continues when a step fails.
type teardown struct {
	limit time.Duration // how long a step may take, unless it has its own limit
	steps []teardownStep
}

type teardownStep struct {
	name  string
	limit time.Duration
	do    func(context.Context) error
}

// push adds the step that undoes what was just done.
func (t *teardown) push(name string, do func(context.Context) error) {
	t.pushFor(t.limit, name, do)
}

// pushFor is push for a step with a limit of its own.
func (t *teardown) pushFor(limit time.Duration, name string, do func(context.Context) error) {
	t.steps = append(t.steps, teardownStep{name, limit, do})
}

// hurry lowers the limit of the step with that name to most.
func (t *teardown) hurry(name string, most time.Duration) {
	for i, step := range t.steps {
		if step.name == name {
			t.steps[i].limit = min(step.limit, most)
		}
	}
}

// run runs all steps and returns their errors.
func (t *teardown) run(ctx context.Context) error {
	var all []error
	for len(t.steps) > 0 {
		last := t.steps[len(t.steps)-1]
		t.steps = t.steps[:len(t.steps)-1]
		step, cancel := context.WithTimeoutCause(ctx, last.limit, fmt.Errorf("it took longer than %v", last.limit))
		if err := last.do(step); err != nil {
			all = append(all, fmt.Errorf("%s: %w", last.name, err))
		}
		cancel()
	}
	return errors.Join(all...)
}
