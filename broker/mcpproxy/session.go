package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// versions are the protocols we speak with agents, newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// errCancelled is the error of a call that its agent took back.
var errCancelled = errors.New("the agent has withdrawn the call")

// errLeft is the error of a call whose agent has disconnected.
var errLeft = errors.New("the agent's connection was closed")

// session is one connection of an agent. It shares nothing with other connections.
type session struct {
	proxy *Proxy
	conn  io.ReadWriteCloser
	out   *jsonrpc.Writer

	ctx      context.Context // ends with the connection
	cancel   context.CancelCauseFunc
	input    context.Context // ends when the agent sends nothing more
	endInput context.CancelFunc
	calls    sync.WaitGroup
	workers  *workerPool
	left     chan struct{} // closed when run has returned

	mu       sync.Mutex
	draining bool
	initial  bool                               // initialize was answered
	shows    bool                               // see showsPrograms
	open     map[string]context.CancelCauseFunc // unanswered requests by id
}

func newSession(p *Proxy, conn io.ReadWriteCloser) *session {
	s := &session{proxy: p, conn: conn, open: map[string]context.CancelCauseFunc{}, workers: newWorkerPool(), left: make(chan struct{})}
	s.out = jsonrpc.NewWriter(conn, writeDeadline(conn), nil)
	s.ctx, s.cancel = context.WithCancelCause(p.life)
	s.input, s.endInput = context.WithCancel(p.waits)
	return s
}

// run reads until the agent leaves. It returns when all its calls have ended.
func (s *session) run() error {
	defer close(s.left)
	unblock := context.AfterFunc(s.ctx, func() { _ = s.conn.Close() })
	defer unblock()
	lines := jsonrpc.NewReader(s.conn, s.proxy.limits.Request)
	lines.FindIDs(strict.FindID)
	err := s.read(lines)
	// An agent that closed only its sending side still gets its answers, but no person is
	// asked on behalf of an agent that may be gone.
	s.endInput()
	if !errors.Is(err, io.EOF) || gone(s.conn) {
		s.cancel(errLeft)
	}
	s.calls.Wait()
	s.out.Settle()
	s.workers.dismiss()
	s.cancel(errLeft)
	_ = s.conn.Close()
	if errors.Is(err, io.EOF) || s.proxy.life.Err() != nil {
		return nil
	}
	return err
}

func (s *session) read(lines *jsonrpc.Reader) error {
	for {
		h := hold{of: s.proxy.room.requests}
		line, err := lines.Next(&h)
		var skipped *jsonrpc.SkippedError
		switch {
		case errors.As(err, &skipped) && errors.Is(err, jsonrpc.ErrTooLong):
			err = s.refused(jsonrpc.Message{ID: skipped.ID}, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message is longer than %d bytes", s.proxy.limits.Request))
		case skipped != nil:
			err = s.refused(jsonrpc.Message{ID: skipped.ID}, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%w", errNoRoom))
		case err == nil:
			err = s.handle(line, &h)
		}
		h.free()
		if err != nil {
			return err
		}
	}
}

// handle answers one message or starts its call. An error ends the connection. The caller
// frees the message's room, unless a call has taken it over.
func (s *session) handle(line []byte, h *hold) error {
	m, err := strict.Decode(line)
	if err != nil {
		return s.refused(m, err)
	}
	if m.Method == "" {
		return nil // an answer; we ask agents nothing
	}
	if m.ID == nil {
		s.notified(m)
		return nil
	}
	switch m.Method {
	case "initialize":
		return s.respond(m, s.initialize)
	case "ping":
		return s.out.Send(jsonrpc.Answer(m.ID, json.RawMessage("{}")))
	case "tools/list":
		err := s.out.Send(jsonrpc.Answer(m.ID, s.proxy.catalog.Load().list))
		s.proxy.announce(Activity{Kind: ToolsListed})
		return err
	case "tools/call":
		return s.begin(m, h, (*call).run)
	case methodResume:
		return s.begin(m, h, (*call).resume)
	}
	return s.out.Send(jsonrpc.AnswerError(m.ID, jsonrpc.Refuse(jsonrpc.MethodNotFound, "there is no such method")))
}

// refused answers a message that was not understood. It records the message, which may
// have been meant as a call.
func (s *session) refused(m jsonrpc.Message, err error) error {
	s.proxy.recordRefused(s.ctx, err)
	return s.out.Send(jsonrpc.AnswerError(m.ID, err))
}

func (s *session) respond(m jsonrpc.Message, f func(json.RawMessage) (json.RawMessage, error)) error {
	result, err := f(m.Params)
	if err != nil {
		return s.out.Send(jsonrpc.AnswerError(m.ID, err))
	}
	return s.out.Send(jsonrpc.Answer(m.ID, result))
}

// initialize agrees on a protocol version.
func (s *session) initialize(params json.RawMessage) (json.RawMessage, error) {
	v, err := jsonx.Parse(params, jsonx.Limits{Bytes: 1 << 20})
	if err != nil {
		return nil, jsonrpc.Refuse(jsonrpc.InvalidParams, "initialize: %v", err)
	}
	version := versions[0]
	if wanted, ok := v.Member("protocolVersion"); ok && slices.Contains(versions, wanted.Text) {
		version = wanted.Text
	}
	s.mu.Lock()
	s.initial, s.shows = true, declares(v, showsPrograms)
	s.mu.Unlock()
	return encode(map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": map[string]bool{"listChanged": true}},
		"serverInfo":      mcp.Implementation{Name: "ironcurtain", Version: "1"},
		"instructions":    s.proxy.instructions(),
	})
}

// declares reports whether a client has an experimental capability.
func declares(params jsonx.Value, name string) bool {
	capabilities, _ := params.Member("capabilities")
	experimental, _ := capabilities.Member("experimental")
	_, has := experimental.Member(name)
	return has
}

// showsPrograms reports whether the client wants to know the states of its programs' calls.
func (s *session) showsPrograms() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shows
}

// notified handles a notification. Only cancellation matters here.
func (s *session) notified(m jsonrpc.Message) {
	switch m.Method {
	case "notifications/cancelled":
		v, err := jsonx.Parse(m.Params, jsonx.Limits{Bytes: 64 << 10})
		if err != nil {
			return
		}
		id, ok := v.Member("requestId")
		if !ok {
			return
		}
		s.mu.Lock()
		cancel := s.open[string(id.Encode())]
		s.mu.Unlock()
		if cancel != nil { // nil: it has been answered
			cancel(errCancelled)
		}
	case "tools/call":
		s.proxy.recordRefused(s.ctx, errors.New("a call without an id is not carried out"))
	}
}

// begin starts to work on a call.
func (s *session) begin(m jsonrpc.Message, h *hold, run func(*call, context.Context) []byte) error {
	if err := s.proxy.config.Audit.Full(); err != nil {
		return s.out.Send(jsonrpc.Answer(m.ID, errorResult("DENIED: the call was neither judged nor carried out (rule "+ruleAudit+"), "+
			"because this session's record of decisions is full. Every other call is refused as well: do not repeat it, and tell the person, who can open a new session.")))
	}
	if !h.Resize(int(h.bytes) + requestCost) {
		return s.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%w", errNoRoom))
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	id := string(m.ID)
	s.mu.Lock()
	_, used := s.open[id]
	full := len(s.open) >= s.proxy.limits.InFlight
	draining := s.draining
	if !used && !full && !draining {
		s.open[id] = cancel
		s.calls.Add(1)
	}
	s.mu.Unlock()
	switch {
	case used:
		cancel(nil)
		return s.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "a request with this id is not answered yet"))
	case full:
		cancel(nil)
		return s.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%d requests wait for their answers already", s.proxy.limits.InFlight))
	case draining:
		cancel(nil)
		return s.refused(m, jsonrpc.Refuse(jsonrpc.InternalError, "%w", errEnding))
	}
	c := &call{proxy: s.proxy, session: s, request: m.ID, params: m.Params, hold: h.pass()}
	s.workers.do(func() {
		defer s.calls.Done()
		defer cancel(nil)
		var answer []byte
		if end := s.proxy.calm.begin(ctx, func(method string) { s.sayBegun(c.request, method) }); end != nil {
			defer end()
			answer = run(c, ctx)
		} else {
			answer = jsonrpc.AnswerError(c.request, jsonrpc.Refuse(jsonrpc.InternalError, "%w", errEnding))
		}
		s.mu.Lock()
		delete(s.open, id)
		s.mu.Unlock()
		if !errors.Is(context.Cause(ctx), errCancelled) {
			_ = s.out.Send(answer)
		}
		c.finish()
	})
	return nil
}

// toolsChanged tells the agent to list the tools again.
func (s *session) toolsChanged() {
	s.mu.Lock()
	ready := s.initial
	s.mu.Unlock()
	if ready {
		_ = s.out.Send(jsonrpc.Notification("notifications/tools/list_changed", nil))
	}
}

// progress sends a progress notification for a request.
func (s *session) progress(token json.RawMessage, done, total float64, text string) {
	params := map[string]any{"progressToken": token, "progress": done, "message": text}
	if total > 0 {
		params["total"] = total
	}
	raw, err := encode(params)
	if err == nil {
		_ = s.out.Send(jsonrpc.Notification("notifications/progress", raw))
	}
}

// drain refuses new calls and waits for running ones until ctx ends. Then it closes the
// connection.
func (s *session) drain(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.calls.Wait()
		s.out.Settle()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.cancel(errLeft)
	<-done
}

// deliver refuses new calls, waits until the others are answered, and closes our side of the
// connection. The agent's bridge closes its side when it has passed on what it read. When ctx ends,
// deliver stops waiting.
func (s *session) deliver(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	answered := make(chan struct{})
	go func() { // ends by the time that drain has waited for the same calls
		s.calls.Wait()
		s.out.Settle()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		return
	}
	if conn, ok := s.conn.(interface{ CloseWrite() error }); !ok || conn.CloseWrite() != nil {
		return
	}
	select {
	case <-s.left:
	case <-ctx.Done():
	}
}
