package mcpproxy

import (
	"bytes"
	"context"
	"errors"

	"golang.org/x/sync/semaphore"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/pressure"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// room bounds the memory of all messages that a session has under way, over all its
// connections. A quarter is reserved for answers, so that other calls can be answered while
// calls wait for a person.
type room struct {
	requests *semaphore.Weighted // bytes of what is read, judged, waits or is carried out
	answers  *semaphore.Weighted // bytes of results that the agent has not taken yet
	forOne   int64               // what one answer takes at most

	// Showing a call and passing on a result takes several times the memory of the
	// message, and so does a web page.
	showing, passing, fetching tokens
}

// tokens bound how many operations run at a time.
type tokens chan struct{}

// take waits for a token until the call or the proxy has ended.
func (t tokens) take(call, proxy context.Context) error {
	switch {
	case call.Err() != nil:
		return context.Cause(call)
	case proxy.Err() != nil:
		return errEnding
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-call.Done():
		return context.Cause(call)
	case <-proxy.Done():
		return errEnding
	}
}

func (t tokens) give() { <-t }

// DefaultRoom is the room of a session, in bytes. A call of the largest size takes a third of the
// part for requests: first its line, then the arguments that are forwarded.
const DefaultRoom = 16 << 20

// requestCost is what a request takes besides its own bytes: mostly a goroutine's stack.
const requestCost = 16 << 10

func newRoom(bytes int) *room {
	answers := int64(bytes / 4)
	return &room{
		requests: semaphore.NewWeighted(int64(bytes) - answers), answers: semaphore.NewWeighted(answers), forOne: answers,
		showing: make(tokens, 2), passing: make(tokens, 2), fetching: make(tokens, 8),
	}
}

// errNoRoom tells an agent that it has too much under way.
var errNoRoom = errors.New("too much of this session is under way already; " +
	"wait for answers or take calls back, then send it again")

// errEnding is the error of a call that was not let through before the proxy was closed.
var errEnding = errors.New("the proxy is ending")

// hold is the part of the room that one request or one answer uses. Only one goroutine at a time
// uses it.
type hold struct {
	of    *semaphore.Weighted
	bytes int64
}

// Resize changes how many bytes are used. It reports false when there are not enough.
func (h *hold) Resize(bytes int) bool {
	more := int64(bytes) - h.bytes
	switch {
	case more > 0 && !h.of.TryAcquire(more):
		return false
	case more < 0:
		h.of.Release(-more)
	}
	pressure.Add(more)
	h.bytes = int64(bytes)
	return true
}

func (h *hold) free() { h.Resize(0) }

// pass hands over all used bytes to another hold.
func (h *hold) pass() hold {
	passed := *h
	h.bytes = 0
	return passed
}

// size returns how much of the room the call needs while it is under way.
func (c *call) size() int {
	n := requestCost + len(c.arguments) + len(c.verdict.Arguments)
	for _, v := range c.verdict.Values {
		n += valueCost + len(v.Text) + len(v.Origin)
	}
	for _, s := range c.verdict.Trace {
		n += valueCost + len(s.Value)
	}
	return n + effectSize(c.effect)
}

// valueCost is what a value of a call takes besides its text.
const valueCost = 128

func effectSize(e *preview.Effect) int {
	if e == nil {
		return 0
	}
	n := len(e.Summary)
	for _, l := range e.Lines {
		n += valueCost + len(l.Text)
	}
	return n
}

// keepLess drops the call's line, and keeps only what a person may see or a second judgment
// needs. It reports false when there is no room for that.
func (c *call) keepLess() bool {
	asked := c.arguments
	switch c.verdict.Decision {
	case policy.Escalate:
		asked = bytes.Clone(asked)
	case policy.Allow:
		asked = nil
	default:
		asked = bytes.Clone(asked[:min(len(asked), maxEvidence)])
	}
	c.arguments, c.params = asked, nil
	return c.hold.Resize(c.size())
}
