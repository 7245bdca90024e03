package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/jsonx"
)

// errServerGone is the end of a server while something was asked of it.
var errServerGone = errors.New("the server ended")

// link is the connection to one running server. It is a transport of mcp-go's
// client, for the handshake, and carries tool calls by itself: their
// parameters and results stay the bytes they are.
type link struct {
	process *sandbox.Process
	out     frameWriter
	limit   int
	roots   roots

	mu       sync.Mutex
	ended    error
	waiting  map[string]chan reply // must-deliver, room for the one reply
	progress map[string]func(json.RawMessage)
	webs     map[string]*webCall // by the id of the call that each belongs to
	calls    uint64
	notify   func(mcp.JSONRPCNotification)

	requests chan serverRequest // to the answering goroutine; a flood is dropped
	readers  sync.WaitGroup
}

// reply is what a server answered.
type reply struct {
	result json.RawMessage
	err    error
}

// serverRequest is a request of a server to us.
type serverRequest struct {
	id     json.RawMessage
	method string
}

// envelope is any message of a server. Its parts are not looked into: what is
// in them is checked where it is used.
type envelope struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// open takes a line apart.
func open(line []byte) (e envelope, ok bool) {
	fields, err := jsonx.Split(line)
	if err != nil {
		return e, false
	}
	for _, f := range fields {
		switch f.Name {
		case "id":
			e.ID = f.Raw
		case "method":
			if json.Unmarshal(f.Raw, &e.Method) != nil {
				return e, false
			}
		case "params":
			e.Params = f.Raw
		case "result":
			e.Result = f.Raw
		case "error":
			if string(f.Raw) != "null" {
				e.Error = f.Raw
			}
		}
	}
	return e, true
}

var _ transport.Interface = (*link)(nil)

// newLink begins to read what the process says.
func newLink(p *sandbox.Process, limits Limits, open []string) *link {
	l := &link{
		process: p, limit: limits.Line, roots: roots{base: open, limit: limits.Roots},
		waiting: map[string]chan reply{}, progress: map[string]func(json.RawMessage){}, webs: map[string]*webCall{},
		requests: make(chan serverRequest, 16),
	}
	l.out.to(p.Stdin())
	l.out.broken = l.end // whoever left a line to another's write waits for an answer
	l.readers.Go(l.read)
	l.readers.Go(l.answerServer)
	return l
}

// Start is part of the transport interface; a link has started when it exists.
func (l *link) Start(context.Context) error { return nil }

// GetSessionId is part of the transport interface; stdio has no sessions.
func (l *link) GetSessionId() string { return "" } //nolint:revive // the interface spells it so

// SetNotificationHandler sets who learns of a server's notifications.
func (l *link) SetNotificationHandler(f func(mcp.JSONRPCNotification)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notify = f
}

// SendRequest asks the server something and waits for the answer.
func (l *link) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, err := json.Marshal(r.ID)
	if err != nil {
		return nil, err
	}
	params, err := encode(r.Params)
	if err != nil {
		return nil, err
	}
	result, err := l.ask(ctx, id, r.Method, params)
	if err != nil {
		return nil, err
	}
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID, Result: result}, nil
}

// SendNotification tells the server something.
func (l *link) SendNotification(_ context.Context, n mcp.JSONRPCNotification) error {
	msg, err := encode(n)
	if err != nil {
		return err
	}
	return l.out.write(msg)
}

// Close ends the process and waits for the readers.
func (l *link) Close() error {
	l.process.Stop()
	l.readers.Wait()
	return nil
}

// request is ask with an id of our own.
func (l *link) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return l.ask(ctx, l.nextID(), method, params)
}

func (l *link) nextID() json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	return strconv.AppendQuote(nil, "ic-"+strconv.FormatUint(l.calls, 10))
}

// job is a call as it is forwarded.
type job struct {
	tool      string
	arguments json.RawMessage
	paths     []string              // that its arguments name
	progress  func(json.RawMessage) // nil when the agent wants none; called by the reading goroutine, must not block
	web       *webCall              // nil when the call makes no web request
}

// call runs a tool with exactly the arguments of the job.
func (l *link) call(ctx context.Context, j job) (json.RawMessage, error) {
	id := l.nextID()
	name, err := encode(j.tool)
	if err != nil {
		return nil, err
	}
	params := make([]byte, 0, len(j.arguments)+len(name)+80)
	params = append(append(params, `{"name":`...), name...)
	params = append(append(params, `,"arguments":`...), j.arguments...)
	if j.web != nil {
		var closed func()
		ctx, closed = l.openWeb(ctx, id, j.web)
		defer closed()
	}
	if j.progress != nil {
		params = append(append(params, `,"_meta":{"progressToken":`...), id...)
		params = append(params, '}')
		l.mu.Lock()
		l.progress[string(id)] = j.progress
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			delete(l.progress, string(id))
			l.mu.Unlock()
		}()
	}
	return l.ask(ctx, id, "tools/call", append(params, '}'))
}

// ask sends a request and waits. When ctx ends first, the server is told.
func (l *link) ask(ctx context.Context, id json.RawMessage, method string, params json.RawMessage) (json.RawMessage, error) {
	got := make(chan reply, 1)
	l.mu.Lock()
	if l.ended != nil {
		l.mu.Unlock()
		return nil, l.ended
	}
	l.waiting[string(id)] = got
	l.mu.Unlock()
	msg := make([]byte, 0, len(params)+len(method)+64)
	msg = append(append(msg, `{"jsonrpc":"2.0","id":`...), id...)
	msg = append(strconv.AppendQuote(append(msg, `,"method":`...), method), `,"params":`...)
	msg = append(append(msg, params...), '}')
	if err := l.out.write(msg); err != nil {
		l.forget(id)
		return nil, fmt.Errorf("%w: %w", errServerGone, err)
	}
	select {
	case r := <-got:
		return r.result, r.err
	case <-ctx.Done():
		l.forget(id)
		if method == "tools/call" {
			_ = l.out.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
		}
		return nil, context.Cause(ctx)
	}
}

func (l *link) forget(id json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, string(id))
}

// read takes the server's messages until it ends.
func (l *link) read() {
	defer close(l.requests)
	frames := newFrameReader(l.process.Stdout(), l.limit)
	for {
		line, err := frames.next()
		if errors.Is(err, errTooLong) {
			// Whose answer it was cannot be known, so nobody can be answered.
			err = errors.New("the server sent a message that is too long")
			go l.process.Stop()
		}
		if err != nil {
			l.end(err)
			return
		}
		if e, ok := open(line); ok { // servers do print other things than messages
			l.dispatch(e)
		}
	}
}

func (l *link) dispatch(e envelope) {
	switch {
	case e.Method == fetch.WebMethod && e.ID != nil && l.startWeb(e):
	case e.Method != "" && e.ID != nil:
		select {
		case l.requests <- serverRequest{id: e.ID, method: e.Method}:
		default:
		}
	case e.Method == "notifications/progress":
		var p struct {
			Token json.RawMessage `json:"progressToken"`
		}
		if json.Unmarshal(e.Params, &p) != nil {
			return
		}
		l.mu.Lock()
		f := l.progress[string(p.Token)]
		l.mu.Unlock()
		if f != nil {
			f(e.Params)
		}
	case e.Method != "":
		l.mu.Lock()
		f := l.notify
		l.mu.Unlock()
		if f != nil {
			f(mcp.JSONRPCNotification{Notification: mcp.Notification{Method: e.Method}})
		}
	case e.ID != nil:
		l.deliver(e)
	}
}

func (l *link) deliver(e envelope) {
	l.mu.Lock()
	got, ok := l.waiting[string(e.ID)]
	delete(l.waiting, string(e.ID))
	l.mu.Unlock()
	if !ok {
		return // late, or never asked
	}
	r := reply{result: e.Result}
	if e.Error != nil {
		var detail mcp.JSONRPCErrorDetails
		if json.Unmarshal(e.Error, &detail) != nil {
			detail.Message = "the server answered with an error that cannot be understood"
		}
		r.err = &serverError{text: detail.Message}
	} else if e.Result == nil {
		r.err = &serverError{text: "the server answered without a result"}
	}
	got <- r
}

// serverError is an error that the server itself answered with.
type serverError struct{ text string }

func (e *serverError) Error() string { return e.text }

// end fails everything that waits.
func (l *link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = fmt.Errorf("%w: %w", errServerGone, err)
	for id, got := range l.waiting {
		delete(l.waiting, id)
		got <- reply{err: l.ended}
	}
}

// answerServer answers requests of the server. It may ask whether we live and
// which directories are open; it gets no model and no person from us.
func (l *link) answerServer() {
	for r := range l.requests {
		var err error
		switch {
		case r.method == "ping":
			err = l.out.write(answer(r.id, json.RawMessage("{}")))
		case r.method == "roots/list" && len(l.roots.base) > 0:
			err = l.roots.answer(r.id, l.out.write)
		default:
			err = l.out.write(answerError(r.id, refuse(mcp.METHOD_NOT_FOUND, "this client does not offer that")))
		}
		if err != nil {
			return
		}
	}
}
