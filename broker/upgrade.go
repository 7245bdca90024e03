package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Kept is what the program that replaces this one needs to know of a broker, besides what is on
// disk.
type Kept struct {
	Lives    int
	Sessions []session.Kept
	Grants   []byte
}

// busyEvery is how often Calm checks whether something is still under way.
const busyEvery = 10 * time.Millisecond

// restLimit is how long Rest waits for the end of the tool servers.
const restLimit = 3 * time.Second

// Calm prepares the broker for HandOver. Tool calls and model requests that arrive from now on
// wait, no session opens, and nothing is decided, until end is called. Calm waits for what is under
// way, for wait at most, and fails if a tool call still is. Model requests still under way are cut
// off later; agents repeat them. With now it neither waits nor fails because of calls, and ends tasks.
func (b *Broker) Calm(ctx context.Context, wait time.Duration, now bool) (end func(), err error) {
	if !b.upgrading.TryLock() {
		return nil, errors.New("another upgrade is under way already")
	}
	if now {
		err = b.endTasks(ctx)
	} else {
		err = b.checkKept()
	}
	if err != nil {
		b.upgrading.Unlock()
		return nil, err
	}
	b.calm(true)
	end = sync.OnceFunc(func() {
		b.calm(false)
		b.deciding.Lock()
		b.undecided = false
		b.deciding.Unlock()
		b.upgrading.Unlock()
	})
	limit := time.NewTimer(wait)
	defer limit.Stop()
	again := time.NewTicker(busyEvery)
	defer again.Stop()
	for over := wait <= 0; ; {
		calls, settled := b.settle(now, over)
		if settled {
			return end, nil
		}
		if over {
			end()
			return nil, fault.New("wait for it, or give --now, which interrupts it", "still under way after %v: %s", wait, strings.Join(calls, ", "))
		}
		select {
		case <-again.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			end()
			return nil, context.Cause(ctx)
		}
	}
}

// settle reports whether nothing is under way any more; with now it always does. From then on
// nothing is decided, because an approved call would begin. With over, model requests do not count.
func (b *Broker) settle(now, over bool) (calls []string, settled bool) {
	b.deciding.Lock()
	defer b.deciding.Unlock()
	calls, requests := b.busy()
	b.undecided = now || len(calls) == 0 && (len(requests) == 0 || over)
	return calls, b.undecided
}

// openSessions returns the sessions in the order of the bar.
func (b *Broker) openSessions() []*session.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sessions)
}

// calm stops the sessions, and those that would open, from beginning anything new, or lets them
// again.
func (b *Broker) calm(yes bool) {
	b.mu.Lock()
	b.calmed = yes
	b.mu.Unlock()
	for _, s := range b.openSessions() {
		s.Calm(yes)
	}
}

// checkKept returns an error that names a session that cannot be handed over.
func (b *Broker) checkKept() error {
	for _, s := range b.openSessions() {
		switch {
		case s.Over():
		case s.Info().NoTerminal:
			return fault.New("wait for it, end it with 'ironcurtain-mux stop "+s.ShortID()+"', or give --now", "the task of session %s would end", s.ShortID())
		case !s.Contained():
			return fault.New("close it first, or give --now", "the %s of session %s would end", s.Info().Agent, s.ShortID())
		}
	}
	return nil
}

// endTasks ends the sessions without a terminal: nobody could go on with their tasks.
func (b *Broker) endTasks(ctx context.Context) error {
	var all []error
	for _, s := range b.openSessions() {
		if s.Info().NoTerminal {
			all = append(all, b.Close(ctx, s.ID()))
		}
	}
	return errors.Join(all...)
}

// busy lists the tool calls and starts of sessions that are under way, and the model requests. What
// waits for a person does not count: tool calls are on disk, and requests are repeated.
func (b *Broker) busy() (calls, requests []string) {
	waiting := map[SessionID]map[string]int{}
	for _, item := range b.approvals.Pending() {
		if item.Restored && item.Unclaimed {
			continue // its caller is not back yet
		}
		if waiting[item.Session] == nil {
			waiting[item.Session] = map[string]int{}
		}
		waiting[item.Session][string(item.Plane)]++
	}
	for _, s := range b.openSessions() {
		made, asked, starting := s.Busy()
		made -= waiting[s.ID()][string(audit.PlaneTool)]
		switch {
		case !s.Contained():
		case starting:
			calls = append(calls, fmt.Sprintf("the start of session %s", s.ShortID()))
		case made == 1:
			calls = append(calls, fmt.Sprintf("a tool call of session %s", s.ShortID()))
		case made > 1:
			calls = append(calls, fmt.Sprintf("%d tool calls of session %s", made, s.ShortID()))
		}
		if asked > waiting[s.ID()][string(audit.PlaneHTTP)] {
			requests = append(requests, fmt.Sprintf("a model's answer in session %s", s.ShortID()))
		}
	}
	return calls, requests
}

// HandOver stops reading from the agents and returns what another program needs to go on with the
// sessions, and the connections to keep open. It ends the tool servers. undo makes this process go
// on with them.
func (b *Broker) HandOver() (k Kept, conns []syscall.RawConn, undo func(), err error) {
	var undone []func()
	undo = func() {
		for _, f := range undone {
			f()
		}
	}
	b.mu.Lock()
	k.Lives = b.lives
	b.mu.Unlock()
	if k.Grants, err = b.grants.Save(); err != nil {
		return k, nil, nil, err
	}
	var resting sync.WaitGroup
	defer resting.Wait()
	for _, s := range b.openSessions() {
		if _, _, starting := s.Busy(); starting || s.Over() || !s.Contained() {
			continue
		}
		resting.Go(func() { s.Rest(restLimit) })
		one, conn, back, err := s.HandOver()
		if err != nil {
			undo()
			return k, nil, nil, fmt.Errorf("hand over session %s: %w", s.ID(), err)
		}
		undone = append(undone, back)
		if k.Sessions = append(k.Sessions, *one); conn != nil {
			conns = append(conns, conn)
		}
	}
	return k, conns, undo, nil
}

// TakeOver continues the sessions that the former program of this process has handed over. Those
// that it cannot continue are left to the person, like those of a killed process. Call it before
// Sweep.
func (b *Broker) TakeOver(ctx context.Context, k Kept) error {
	b.mu.Lock()
	b.lives = k.Lives
	b.mu.Unlock()
	all := []error{b.grants.Load(k.Grants)}
	for _, s := range k.Sessions {
		if _, err := b.Open(ctx, OpenRequest{Resume: s.ID, Cols: s.Cols, Rows: s.Rows, Opener: s.Opener, Kept: &s}); err != nil {
			all = append(all, fmt.Errorf("continue session %s: %w", s.ID, err))
		}
	}
	return errors.Join(all...)
}
