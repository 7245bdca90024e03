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

// agentConn is one connection of an agent. It shares nothing with other connections.
type agentConn struct {
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

func newAgentConn(p *Proxy, conn io.ReadWriteCloser) *agentConn {
	cn := &agentConn{proxy: p, conn: conn, open: map[string]context.CancelCauseFunc{}, workers: newWorkerPool(), left: make(chan struct{})}
	cn.out = jsonrpc.NewWriter(conn, writeDeadline(conn), nil)
	cn.ctx, cn.cancel = context.WithCancelCause(p.life)
	cn.input, cn.endInput = context.WithCancel(p.waits)
	return cn
}

// run reads until the agent leaves. It returns when all its calls have ended.
func (cn *agentConn) run() error {
	defer close(cn.left)
	unblock := context.AfterFunc(cn.ctx, func() { _ = cn.conn.Close() })
	defer unblock()
	lines := jsonrpc.NewReader(cn.conn, cn.proxy.limits.Request)
	lines.FindIDs(strict.FindID)
	err := cn.read(lines)
	// An agent that closed only its sending side still gets its answers, but no person is
	// asked on behalf of an agent that may be gone.
	cn.endInput()
	if !errors.Is(err, io.EOF) || gone(cn.conn) {
		cn.cancel(errLeft)
	}
	cn.calls.Wait()
	cn.out.Settle()
	cn.workers.dismiss()
	cn.cancel(errLeft)
	_ = cn.conn.Close()
	if errors.Is(err, io.EOF) || cn.proxy.life.Err() != nil {
		return nil
	}
	return err
}

func (cn *agentConn) read(lines *jsonrpc.Reader) error {
	for {
		h := hold{of: cn.proxy.room.requests}
		line, err := lines.Next(&h)
		var skipped *jsonrpc.SkippedError
		switch {
		case errors.As(err, &skipped) && errors.Is(err, jsonrpc.ErrTooLong):
			err = cn.refused(jsonrpc.Message{ID: skipped.ID}, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message is longer than %d bytes", cn.proxy.limits.Request))
		case skipped != nil:
			err = cn.refused(jsonrpc.Message{ID: skipped.ID}, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%w", errNoRoom))
		case err == nil:
			err = cn.handle(line, &h)
		}
		h.free()
		if err != nil {
			return err
		}
	}
}

// handle answers one message or starts its call. An error ends the connection. The caller
// frees the message's room, unless a call has taken it over.
func (cn *agentConn) handle(line []byte, h *hold) error {
	m, err := strict.Decode(line)
	if err != nil {
		return cn.refused(m, err)
	}
	if m.Method == "" {
		return nil // an answer; we ask agents nothing
	}
	if m.ID == nil {
		cn.notified(m)
		return nil
	}
	switch m.Method {
	case "initialize":
		return cn.respond(m, cn.initialize)
	case "ping":
		return cn.out.Send(jsonrpc.Answer(m.ID, json.RawMessage("{}")))
	case "tools/list":
		err := cn.out.Send(jsonrpc.Answer(m.ID, cn.proxy.catalog.Load().list))
		cn.proxy.announce(Activity{Kind: ToolsListed})
		return err
	case "tools/call":
		return cn.begin(m, h, (*call).run)
	case methodResume:
		return cn.begin(m, h, (*call).resume)
	}
	return cn.out.Send(jsonrpc.AnswerError(m.ID, jsonrpc.Refuse(jsonrpc.MethodNotFound, "there is no such method")))
}

// refused answers a message that was not understood. It records the message, which may
// have been meant as a call.
func (cn *agentConn) refused(m jsonrpc.Message, err error) error {
	cn.proxy.recordRefused(cn.ctx, err)
	return cn.out.Send(jsonrpc.AnswerError(m.ID, err))
}

func (cn *agentConn) respond(m jsonrpc.Message, f func(json.RawMessage) (json.RawMessage, error)) error {
	result, err := f(m.Params)
	if err != nil {
		return cn.out.Send(jsonrpc.AnswerError(m.ID, err))
	}
	return cn.out.Send(jsonrpc.Answer(m.ID, result))
}

// initialize agrees on a protocol version.
func (cn *agentConn) initialize(params json.RawMessage) (json.RawMessage, error) {
	v, err := jsonx.Parse(params, jsonx.Limits{Bytes: 1 << 20})
	if err != nil {
		return nil, jsonrpc.Refuse(jsonrpc.InvalidParams, "initialize: %v", err)
	}
	version := versions[0]
	if wanted, ok := v.Member("protocolVersion"); ok && slices.Contains(versions, wanted.Text) {
		version = wanted.Text
	}
	cn.mu.Lock()
	cn.initial, cn.shows = true, declares(v, showsPrograms)
	cn.mu.Unlock()
	return encode(map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": map[string]bool{"listChanged": true}},
		"serverInfo":      mcp.Implementation{Name: "ironcurtain", Version: "1"},
		"instructions":    cn.proxy.instructions(),
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
func (cn *agentConn) showsPrograms() bool {
	cn.mu.Lock()
	defer cn.mu.Unlock()
	return cn.shows
}

// notified handles a notification. Only cancellation matters here.
func (cn *agentConn) notified(m jsonrpc.Message) {
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
		cn.mu.Lock()
		cancel := cn.open[string(id.Encode())]
		cn.mu.Unlock()
		if cancel != nil { // nil: it has been answered
			cancel(errCancelled)
		}
	case "tools/call":
		cn.proxy.recordRefused(cn.ctx, errors.New("a call without an id is not carried out"))
	}
}

// begin starts to work on a call.
func (cn *agentConn) begin(m jsonrpc.Message, h *hold, run func(*call, context.Context) []byte) error {
	if err := cn.proxy.config.Audit.Full(); err != nil {
		return cn.out.Send(jsonrpc.Answer(m.ID, errorResult("DENIED: the call was neither judged nor carried out (rule "+ruleAudit+"), "+
			"because this session's record of decisions is full. Every other call is refused as well: do not repeat it, and tell the person, who can open a new session.")))
	}
	if !h.Resize(int(h.bytes) + requestCost) {
		return cn.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%w", errNoRoom))
	}
	ctx, cancel := context.WithCancelCause(cn.ctx)
	id := string(m.ID)
	cn.mu.Lock()
	_, used := cn.open[id]
	full := len(cn.open) >= cn.proxy.limits.InFlight
	draining := cn.draining
	if !used && !full && !draining {
		cn.open[id] = cancel
		cn.calls.Add(1)
	}
	cn.mu.Unlock()
	switch {
	case used:
		cancel(nil)
		return cn.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "a request with this id is not answered yet"))
	case full:
		cancel(nil)
		return cn.refused(m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "%d requests wait for their answers already", cn.proxy.limits.InFlight))
	case draining:
		cancel(nil)
		return cn.refused(m, jsonrpc.Refuse(jsonrpc.InternalError, "%w", errEnding))
	}
	c := &call{proxy: cn.proxy, agent: cn, request: m.ID, params: m.Params, hold: h.pass()}
	cn.workers.do(func() {
		defer cn.calls.Done()
		defer cancel(nil)
		var answer []byte
		if end := cn.proxy.calm.begin(ctx, func(method string) { cn.sayBegun(c.request, method) }); end != nil {
			defer end()
			answer = run(c, ctx)
		} else {
			answer = jsonrpc.AnswerError(c.request, jsonrpc.Refuse(jsonrpc.InternalError, "%w", errEnding))
		}
		cn.mu.Lock()
		delete(cn.open, id)
		cn.mu.Unlock()
		if !errors.Is(context.Cause(ctx), errCancelled) {
			_ = cn.out.Send(answer)
		}
		c.finish()
	})
	return nil
}

// toolsChanged tells the agent to list the tools again.
func (cn *agentConn) toolsChanged() {
	cn.mu.Lock()
	ready := cn.initial
	cn.mu.Unlock()
	if ready {
		_ = cn.out.Send(jsonrpc.Notification("notifications/tools/list_changed", nil))
	}
}

// progress sends a progress notification for a request.
func (cn *agentConn) progress(token json.RawMessage, done, total float64, text string) {
	params := map[string]any{"progressToken": token, "progress": done, "message": text}
	if total > 0 {
		params["total"] = total
	}
	raw, err := encode(params)
	if err == nil {
		_ = cn.out.Send(jsonrpc.Notification("notifications/progress", raw))
	}
}

// drain refuses new calls and waits for running ones until ctx ends. Then it closes the
// connection.
func (cn *agentConn) drain(ctx context.Context) {
	cn.mu.Lock()
	cn.draining = true
	cn.mu.Unlock()
	done := make(chan struct{})
	go func() {
		cn.calls.Wait()
		cn.out.Settle()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	cn.cancel(errLeft)
	<-done
}

// deliver refuses new calls, waits until the others are answered, and closes our side of the
// connection. The agent's bridge closes its side when it has passed on what it read. When ctx ends,
// deliver stops waiting.
func (cn *agentConn) deliver(ctx context.Context) {
	cn.mu.Lock()
	cn.draining = true
	cn.mu.Unlock()
	answered := make(chan struct{})
	go func() { // ends by the time that drain has waited for the same calls
		cn.calls.Wait()
		cn.out.Settle()
		close(answered)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		return
	}
	if conn, ok := cn.conn.(interface{ CloseWrite() error }); !ok || conn.CloseWrite() != nil {
		return
	}
	select {
	case <-cn.left:
	case <-ctx.Done():
	}
}
