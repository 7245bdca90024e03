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

// Workspace is the agent's workspace where the engine does not share this machine's files: the
// agent has one copy, and the tools work on another one, which the policy judges. Both methods are
// safe for concurrent use, and return when ctx ends.
type Workspace interface {
	// Fetch brings here what the agent has changed.
	Fetch(ctx context.Context) error
	// Return brings to the agent what was changed here. The note tells the agent of what both have
	// changed; it is mostly empty.
	Return(ctx context.Context) (note string, err error)
}

// barrier makes the two copies of the workspace one for the calls: what the agent wrote before a
// call is here before that is judged, and what the call wrote is there before the agent has the
// answer.
//
// What was judged is forwarded, also while other calls fetch. A call that waited for a person is
// judged by files fetched after the decision, and then its effect is compared with the one that was
// shown. So what another call has fetched meanwhile is noticed as a write of an agent that shares
// the files is.
type barrier struct {
	fetches, returns crossings
	running          sync.WaitGroup
}

func newBarrier(life context.Context, w Workspace, limit time.Duration) *barrier {
	late := fmt.Errorf("the container's files did not arrive within %v", limit)
	within := func(cross func(context.Context) (string, error)) func() (string, error) {
		return func() (string, error) {
			ctx, cancel := context.WithTimeoutCause(life, limit, late)
			defer cancel()
			note, err := cross(ctx)
			if cause := context.Cause(ctx); err != nil && errors.Is(err, context.DeadlineExceeded) && cause != nil {
				err = cause
			}
			return note, err
		}
	}
	b := &barrier{}
	b.fetches = crossings{running: &b.running, cross: within(func(ctx context.Context) (string, error) { return "", w.Fetch(ctx) })}
	b.returns = crossings{running: &b.running, cross: within(w.Return)}
	return b
}

// wait returns when nothing crosses any more. Call it when no call can begin to.
func (b *barrier) wait() {
	if b != nil {
		b.running.Wait()
	}
}

// crossings are those in one direction, one at a time. Calls that need one while another one is
// under way share the next, because what they wait for may have missed the present one.
type crossings struct {
	cross   func() (note string, err error)
	running *sync.WaitGroup

	mu        sync.Mutex
	now, next *crossing // next only while there is one now
}

// crossing has its result when done is closed.
type crossing struct {
	done chan struct{}
	note string
	err  error
}

// wait waits for a crossing that begins from now on. It goes on without a call that is given up.
func (s *crossings) wait(ctx context.Context) (note string, err error) {
	x := s.join()
	select {
	case <-x.done:
		return x.note, x.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *crossings) join() *crossing {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.now == nil:
		s.now = &crossing{done: make(chan struct{})}
		first := s.now
		s.running.Go(func() { s.run(first) })
		return first
	case s.next == nil:
		s.next = &crossing{done: make(chan struct{})}
	}
	return s.next
}

// run carries out crossings until nobody needs one.
func (s *crossings) run(x *crossing) {
	for x != nil {
		x.note, x.err = s.cross()
		s.mu.Lock()
		close(x.done)
		s.now, s.next = s.next, nil
		x = s.now
		s.mu.Unlock()
	}
}

// seesWorkspace reports whether a server can use the workspace: a program of this machine can,
// but for the one that fetches pages, which has no tool for files. One behind HTTP cannot, and what
// the host carries out itself is no server.
func seesWorkspace(s sandbox.Spec) bool {
	return s.Remote == nil && (s.Own || !s.Sandbox.Network.Judged)
}

// crosses reports whether the workspace has to be the same on both sides for the call.
func (c *call) crosses() bool {
	if c.proxy.barrier == nil {
		return false
	}
	b := c.proxy.backend(c.target.server)
	return b != nil && seesWorkspace(b.spec)
}

// fetchFiles brings the agent's workspace here, for a call that may use it. It returns the verdict
// on a call for which that failed, and else nil.
func (c *call) fetchFiles(ctx context.Context) *policy.Verdict {
	if !c.crosses() {
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
		return &policy.Verdict{Decision: policy.Deny, Rule: policy.RuleWithdrawn, Reason: "the call was taken back before it was judged"}
	}
	return &policy.Verdict{
		Decision: policy.Deny, Rule: ruleFiles,
		Reason: "the files of the container, by which it is judged, could not be brought here: " + c.proxy.present(err.Error(), false),
	}
}

// bringBack returns when the agent has in its workspace what a call that was sent to its server has
// changed, or when that failed. It says so in the notes, those of a program's call in the
// program's.
func (c *call) bringBack(ctx context.Context) {
	if !c.sent || !c.crosses() {
		return
	}
	note, err := c.proxy.barrier.returns.wait(ctx)
	if err != nil && ctx.Err() != nil {
		return // nobody reads the answer, and it goes on by itself
	}
	if err != nil {
		note = c.notArrived(c.proxy.present(err.Error(), false))
	}
	switch {
	case note == "":
	case c.program != nil: // whose code takes the value of the call, and nothing else
		c.program.note(note)
	default:
		c.notes = append(c.notes, note)
	}
}

// notArrived notes why the agent's workspace has not what the call did, and returns what the agent
// is told.
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
	return what + why + ". Do not repeat the call. The next call of a tool tries again to bring it there; tell the person if that fails as well."
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

// withNotes returns a result with the call's notes as its last blocks. Such a result has no structured
// content, because Claude Code shows its model nothing else when there is some. Agents are given no
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
