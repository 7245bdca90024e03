package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// ErrClosed means that the connection has ended before the answer.
var ErrClosed = errors.New("the connection to the multiplexer has ended")

// maxEvents is how many events may wait for a slow reader of Subscribe.
const maxEvents = 256

// Client implements broker.Calls over a connection. It is safe for concurrent use.
type Client struct {
	conn *wire.Conn
	done chan struct{} // closed when nothing is received any more

	mu     sync.Mutex
	last   uint64               // the id of the newest call
	open   map[uint64]*openCall // by id
	closed bool
}

// openCall is a call that has no answer yet, or a stream.
type openCall struct {
	answered chan answer       // has room for the only answer
	parts    []byte            // of the result
	events   chan broker.Event // of a stream, else nil
	streams  bool              // the answer has come, and events follow
}

// Connect connects to the process that serves calls on a socket. It returns wire.ErrNoDaemon if none
// does.
func Connect(ctx context.Context, socket string, h wire.Hello) (*Client, error) {
	h.Kind = wire.ForCalls
	conn, _, err := wire.Dial(ctx, socket, h)
	if err != nil {
		return nil, err
	}
	return NewClient(conn), nil
}

// NewClient returns a client on a connection that has exchanged the hello. Disconnect ends the
// connection.
func NewClient(conn *wire.Conn) *Client {
	c := &Client{conn: conn, done: make(chan struct{}), open: map[uint64]*openCall{}}
	go c.receive()
	return c
}

// Disconnect ends the connection, and every call that is under way.
func (c *Client) Disconnect() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// receive delivers answers until the connection ends.
func (c *Client) receive() {
	defer close(c.done)
	defer c.end()
	for {
		text, err := c.conn.ReceiveText()
		var a answer
		if err != nil || json.Unmarshal(text, &a) != nil || !c.deliver(a) {
			_ = c.conn.Close()
			return
		}
	}
}

// end ends all open calls.
func (c *Client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id := range c.open {
		c.dropLocked(id)
	}
}

// dropLocked removes a call, and closes its channels for the goroutine that waits for it.
func (c *Client) dropLocked(id uint64) {
	o := c.open[id]
	delete(c.open, id)
	if o.events != nil {
		close(o.events)
	}
	close(o.answered)
}

// deliver delivers a frame to its call. It reports false if the connection cannot be used any more.
func (c *Client) deliver(a answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[a.ID]
	switch {
	case o == nil: // the call was given up
		return true
	case a.Part != nil:
		o.parts = append(o.parts, a.Part...)
		return len(o.parts) <= maxResult
	case a.Event != nil:
		return c.deliverEventLocked(a, o)
	case o.streams:
		c.dropLocked(a.ID)
		return true
	}
	if len(o.parts) > 0 && a.Error == nil {
		a.Result = o.parts
	}
	o.answered <- a // never blocks: there is only one answer
	if o.streams = o.events != nil && a.Error == nil; !o.streams {
		c.dropLocked(a.ID)
	}
	return true
}

func (c *Client) deliverEventLocked(a answer, o *openCall) bool {
	var ev broker.Event
	if !o.streams || json.Unmarshal(a.Event, &ev) != nil {
		return false
	}
	select {
	case o.events <- ev:
	default: // the reader is too slow
		c.dropLocked(a.ID)
		go c.cancel(a.ID)
	}
	return true
}

// cancel tells the broker's side that a call is given up.
func (c *Client) cancel(id uint64) {
	if text, err := json.Marshal(request{Cancel: id}); err == nil {
		_ = c.conn.SendText("cancel", text) // the connection may have ended
	}
}

// ask sends a call and waits for its answer.
func (c *Client) ask(ctx context.Context, o *openCall, method string, params []any) (result json.RawMessage, id uint64, err error) {
	fail := func(err error) (json.RawMessage, uint64, error) {
		return nil, 0, fmt.Errorf("ask the multiplexer: %w", err)
	}
	r := request{Method: method}
	for _, p := range params {
		text, err := json.Marshal(p)
		if err != nil {
			return fail(err)
		}
		r.Params = append(r.Params, text)
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fail(ErrClosed)
	}
	c.last++
	r.ID = c.last
	c.open[r.ID] = o
	c.mu.Unlock()
	text, err := json.Marshal(r)
	if err == nil {
		err = c.conn.SendText(method, text)
	}
	if err != nil {
		c.giveUp(r.ID)
		return fail(err)
	}
	select {
	case a, more := <-o.answered:
		switch {
		case !more:
			return fail(ErrClosed)
		case a.Error != nil:
			return nil, 0, a.Error
		}
		return a.Result, r.ID, nil
	case <-ctx.Done():
		if c.giveUp(r.ID) {
			c.cancel(r.ID)
		}
		return fail(ctx.Err())
	}
}

// giveUp removes a call, and reports whether it was open.
func (c *Client) giveUp(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[id] == nil {
		return false
	}
	c.dropLocked(id)
	return true
}

// call makes one call.
func call[R any](ctx context.Context, c *Client, method string, params ...any) (result R, err error) {
	text, _, err := c.ask(ctx, &openCall{answered: make(chan answer, 1)}, method, params)
	if err == nil {
		if err = json.Unmarshal(text, &result); err != nil {
			err = fmt.Errorf("ask the multiplexer: decode the answer: %w", err)
		}
	}
	return result, err
}

// doCall makes one call that has no result.
func doCall(ctx context.Context, c *Client, method string, params ...any) error {
	_, err := call[struct{}](ctx, c, method, params...)
	return err
}

// Subscribe implements broker.Calls.
func (c *Client) Subscribe(ctx context.Context) (<-chan broker.Event, error) {
	o := &openCall{answered: make(chan answer, 1), events: make(chan broker.Event, maxEvents)}
	_, id, err := c.ask(ctx, o, "Subscribe", nil)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		if c.giveUp(id) {
			c.cancel(id)
		}
	})
	return o.events, nil
}
