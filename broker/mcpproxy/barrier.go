package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Workspace keeps two copies of the agent's workspace equal where the engine does not share this
// machine's files: the agent has one, the tools and the policy use the other. Both methods are safe
// for concurrent use, and return when ctx ends.
type Workspace interface {
	// Fetch copies the agent's changes to this machine.
	Fetch(ctx context.Context) error
	// Return copies this machine's changes to the agent. The note tells the agent of conflicts; it
	// is empty if there are none.
	Return(ctx context.Context) (note string, err error)
}

// barrier keeps both copies of the workspace equal for calls: it fetches the agent's changes before
// a call is judged, and returns the call's changes before the agent has the answer.
//
// A call is forwarded as it was judged, even if other calls fetch meanwhile. A call that waited for
// a person is judged again by files fetched after the decision, and its effect is compared with the
// one that was shown. So a change that another call has fetched is noticed like a write of an agent
// that shares the files.
type barrier struct {
	fetches, returns transfers
	running          sync.WaitGroup
}

func newBarrier(life context.Context, w Workspace, limit time.Duration) *barrier {
	late := fmt.Errorf("copying the changed files took longer than %v", limit)
	within := func(move func(context.Context) (string, error)) func() (string, error) {
		return func() (string, error) {
			ctx, cancel := context.WithTimeoutCause(life, limit, late)
			defer cancel()
			note, err := move(ctx)
			if cause := context.Cause(ctx); err != nil && errors.Is(err, context.DeadlineExceeded) && cause != nil {
				err = cause
			}
			return note, err
		}
	}
	b := &barrier{}
	b.fetches = transfers{running: &b.running, move: within(func(ctx context.Context) (string, error) { return "", w.Fetch(ctx) })}
	b.returns = transfers{running: &b.running, move: within(w.Return)}
	return b
}

// wait waits for the end of all transfers. No call may begin one meanwhile.
func (b *barrier) wait() {
	if b != nil {
		b.running.Wait()
	}
}

// transfers are those in one direction, one at a time. Calls that need one while another one runs
// share the next, because the present one may have missed their changes.
type transfers struct {
	move    func() (note string, err error)
	running *sync.WaitGroup

	mu        sync.Mutex
	now, next *transfer // next is nil unless now is set
}

// transfer has its result when done is closed.
type transfer struct {
	done chan struct{}
	note string
	err  error
}

// wait waits for a transfer that begins from now on. The transfer continues when ctx ends first.
func (s *transfers) wait(ctx context.Context) (note string, err error) {
	x := s.join()
	select {
	case <-x.done:
		return x.note, x.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *transfers) join() *transfer {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.now == nil:
		s.now = &transfer{done: make(chan struct{})}
		first := s.now
		s.running.Go(func() { s.run(first) })
		return first
	case s.next == nil:
		s.next = &transfer{done: make(chan struct{})}
	}
	return s.next
}

// run carries out transfers until no call needs one.
func (s *transfers) run(x *transfer) {
	for x != nil {
		x.note, x.err = s.move()
		s.mu.Lock()
		close(x.done)
		s.now, s.next = s.next, nil
		x = s.now
		s.mu.Unlock()
	}
}

// seesWorkspace reports whether a server can use the workspace. A process of this machine can,
// except the fetch server, which has no tool for files. A server over HTTP cannot.
func seesWorkspace(s sandbox.Spec) bool {
	return s.Remote == nil && (s.Own || !s.Sandbox.Network.Judged)
}

// usesWorkspace reports whether both copies of the workspace have to be equal for the call.
func (c *call) usesWorkspace() bool {
	if c.proxy.barrier == nil {
		return false
	}
	b := c.proxy.backend(c.target.server)
	return b != nil && seesWorkspace(b.spec)
}

// fetchFiles fetches the agent's changes for a call that may use the workspace. It returns nil, or
// the denial of a call for which that failed.
func (c *call) fetchFiles(ctx context.Context) *policy.Verdict {
	if !c.usesWorkspace() {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.proxy.waits, func() { cancel(errEnding) })()
	_, err := c.proxy.barrier.fetches.wait(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &policy.Verdict{Decision: policy.Deny, Rule: policy.RuleWithdrawn, Reason: "the call was withdrawn before it was judged"}
	}
	return &policy.Verdict{
		Decision: policy.Deny, Rule: ruleFiles,
		Reason: "the files in the container, by which the call is judged, could not be fetched: " + c.proxy.present(err.Error(), false),
	}
}

// returnFiles returns the changes of a call that was sent to its server to the agent, or adds a
// note for the agent that this failed. A note about a program's call is added to the program's
// notes.
func (c *call) returnFiles(ctx context.Context) {
	if !c.sent || !c.usesWorkspace() {
		return
	}
	note, err := c.proxy.barrier.returns.wait(ctx)
	if err != nil && ctx.Err() != nil {
		return // nobody reads the answer, and the transfer continues
	}
	if err != nil {
		note = c.notArrived(c.proxy.present(err.Error(), false))
	}
	switch {
	case note == "":
	case c.program != nil: // its code gets the value of the call, and nothing else
		c.program.note(note)
	default:
		c.notes = append(c.notes, note)
	}
}

// notArrived notes why the agent's workspace lacks the call's changes, and returns the agent's
// note.
func (c *call) notArrived(why string) string {
	if c.ending.detail == nil {
		c.ending.detail = map[string]any{}
	}
	c.ending.detail["notArrived"] = why
	what := c.name() + " was carried out, but its result has not arrived in /workspace: "
	if c.ending.decision != audit.Done {
		what = "What " + c.name() + " may have changed has not arrived in /workspace: "
	}
	if c.outcome.state == approval.EndDone {
		c.outcome.is(approval.EndFailed, "it was carried out, but its result has not arrived in the agent's workspace: "+why)
	}
	return what + why + ". Do not repeat the call. The next call of a tool copies it again; tell the person if that fails as well."
}

// maxNotes is how many different notes a program's answer has at most.
const maxNotes = 20

// note keeps a note for the program's answer.
func (r *running) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.notes) < maxNotes && !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

func (r *running) noted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes
}

// withNotes returns a result with the call's notes as its last blocks. Such a result has no
// structured content, because Claude Code would show its model only that. Agents are given no
// output schema, so no client requires it.
func (c *call) withNotes(result json.RawMessage) json.RawMessage {
	if len(c.notes) == 0 {
		return result
	}
	var r toolResult
	if json.Unmarshal(result, &r) != nil {
		return result
	}
	if len(r.Content) == 0 && r.Structured != nil {
		r.Content = append(r.Content, textBlock(string(r.Structured)))
	}
	r.Structured = nil
	for _, note := range c.notes {
		r.Content = append(r.Content, textBlock(c.proxy.present(note, false)))
	}
	all, err := encode(r)
	if err != nil {
		return result
	}
	if c.ending.decision == audit.Done {
		c.ending.bytes = len(all)
	}
	return all
}
