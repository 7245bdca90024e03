package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// request is ask with an id of our own.
func (sc *serverConn) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	got, err := sc.ask(ctx, sc.nextID(), method, params, nil)
	return got.result, err
}

func (sc *serverConn) nextID() json.RawMessage {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.calls++
	return strconv.AppendQuote(nil, "ic-"+strconv.FormatUint(sc.calls, 10))
}

// call runs the call's tool with exactly the arguments that were judged. The server may ask for the
// web request, unless web is nil. If the call is given up, over is called when the server has
// answered or ended.
func (sc *serverConn) call(ctx context.Context, c *call, web *webCall, over func()) (reply, error) {
	id := sc.nextID()
	name, err := encode(c.target.tool)
	if err != nil {
		return reply{}, err
	}
	arguments := c.verdict.Arguments
	params := make([]byte, 0, len(arguments)+len(name)+80)
	params = append(append(params, `{"name":`...), name...)
	params = append(append(params, `,"arguments":`...), arguments...)
	if web != nil {
		var closed func()
		ctx, closed = sc.openWeb(ctx, id, web)
		defer closed()
	}
	if progress := c.relay(); progress != nil {
		params = append(append(params, `,"_meta":{"progressToken":`...), id...)
		params = append(params, '}')
		sc.mu.Lock()
		sc.progress[string(id)] = progress
		sc.mu.Unlock()
		defer func() {
			sc.mu.Lock()
			delete(sc.progress, string(id))
			sc.mu.Unlock()
		}()
	}
	c.sent = true
	return sc.ask(ctx, id, "tools/call", append(params, '}'), over)
}

// relay returns the function that passes on a server's progress, or nil when the agent
// wants none. The function never blocks.
func (c *call) relay() func(json.RawMessage) {
	token := c.progressToken
	if token == nil {
		return nil
	}
	return func(raw json.RawMessage) {
		var p struct {
			Progress float64 `json:"progress"`
			Total    float64 `json:"total"`
			Message  string  `json:"message"`
		}
		if json.Unmarshal(raw, &p) == nil {
			c.agent.progress(token, p.Progress, p.Total, c.proxy.present(p.Message, false))
		}
	}
}

// reply is what a server answered.
type reply struct {
	result json.RawMessage
	room   hold // memory of the result of a call; of other requests nothing
	err    error
}

// waiter is a request that the server has not answered.
type waiter struct {
	got     chan reply // never dropped; has room for the one reply
	over    func()     // set when the call is given up
	charged bool       // the answer takes room
}

// givenUpError is the error of an abandoned call that the server may still work on.
type givenUpError struct{ cause error }

func (e *givenUpError) Error() string { return e.cause.Error() }
func (e *givenUpError) Unwrap() error { return e.cause }

// ask sends a request and waits for the answer. When ctx ends first, it tells the server,
// and gives up a request that has an over function.
func (sc *serverConn) ask(ctx context.Context, id json.RawMessage, method string, params json.RawMessage, over func()) (reply, error) {
	w := &waiter{got: make(chan reply, 1)}
	sc.mu.Lock()
	if sc.ended != nil {
		sc.mu.Unlock()
		return reply{}, sc.ended
	}
	w.charged = over != nil
	sc.waiting[string(id)] = w
	sc.mu.Unlock()
	if err := sc.out.Send(jsonrpc.Request(id, method, params)); err != nil {
		sc.forget(id)
		return reply{}, serverGone(err)
	}
	select {
	case r := <-w.got:
		return r, r.err
	case <-ctx.Done():
		if !sc.giveUp(id, over) { // it has just been answered
			r := <-w.got
			r.room.free()
			return reply{}, context.Cause(ctx)
		}
		if method == "tools/call" {
			_ = sc.out.Send(jsonrpc.Notification("notifications/cancelled", fmt.Appendf(nil, `{"requestId":%s}`, id)))
		}
		if over == nil {
			return reply{}, context.Cause(ctx)
		}
		return reply{}, &givenUpError{context.Cause(ctx)}
	}
}

// giveUp notes that nobody waits for an answer any more. It reports false when the answer
// has arrived or the server has ended.
func (sc *serverConn) giveUp(id json.RawMessage, over func()) bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	w, open := sc.waiting[string(id)]
	if open && over == nil {
		delete(sc.waiting, string(id))
	} else if open {
		w.over = over
	}
	return open
}

// dropGivenUp ends the abandoned calls of a server that has ended.
func (sc *serverConn) dropGivenUp() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for id, w := range sc.waiting {
		delete(sc.waiting, id)
		w.over()
	}
}

func (sc *serverConn) forget(id json.RawMessage) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	delete(sc.waiting, string(id))
}
