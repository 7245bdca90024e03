package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Served says what is served on a connection, and to whom.
type Served struct {
	Broker  broker.Calls
	Right   wire.Right    // of the client; it cannot get more
	Client  broker.Client // for the records
	By      string        // the way in which the client decides, for the records; "" means by a command
	Hello   wire.Hello    // of the client
	Version string        // of this program
}

// caller is a client whose calls are served.
type caller struct {
	Served
	conn *wire.Conn
	work sync.WaitGroup // running calls

	mu      sync.Mutex
	running map[uint64]context.CancelFunc // by id
}

// Serve answers the calls that come over a connection, until the connection or ctx ends. Then it
// closes the connection and waits for the calls that are under way.
func Serve(ctx context.Context, conn *wire.Conn, s Served) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c := &caller{Served: s, conn: conn, running: map[uint64]context.CancelFunc{}}
	defer c.work.Wait()
	defer func() { _ = conn.Close() }()
	defer cancel()
	for {
		text, err := conn.ReceiveText()
		var r request
		if err != nil || wire.Strictly(text, &r) != nil || !c.handle(ctx, r) {
			return // the client is gone, or breaks the protocol
		}
	}
}

// handle starts or cancels a call. It reports false for a frame that breaks the protocol.
func (c *caller) handle(ctx context.Context, r request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Cancel != 0 {
		c.cancelLocked(r.Cancel)
		return r.ID == 0 && r.Method == "" && r.Params == nil
	}
	if r.ID == 0 || c.running[r.ID] != nil {
		return false
	}
	row, err := c.find(r)
	if err == nil && len(c.running) >= maxCalls {
		err = fault.New("wait until some of the calls have ended", "%d calls are under way, and no more are served at a time", maxCalls)
	}
	if err != nil {
		row.call = func(context.Context, *caller, []json.RawMessage) (any, error) { return nil, err }
	}
	ctx, cancel := context.WithCancel(ctx)
	c.running[r.ID] = cancel
	c.work.Go(func() {
		defer c.forget(r.ID)
		c.answer(ctx, r, row)
	})
	return len(c.running) <= 2*maxCalls // more means that the client does not read its answers
}

// cancel ends the context of a call.
func (c *caller) cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelLocked(id)
}

func (c *caller) cancelLocked(id uint64) {
	if cancel := c.running[id]; cancel != nil {
		cancel()
	}
}

func (c *caller) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelLocked(id)
	delete(c.running, id)
}

// find returns the row of a call. The error says why the call is refused.
func (c *caller) find(r request) (row, error) {
	row, known := table[r.Method]
	switch {
	case !known:
		return row, c.unknown(r.Method)
	case !slices.Contains(row.rights, c.Right):
		return row, refusal(r.Method, c.Right)
	case len(r.Params) != row.params:
		return row, fmt.Errorf("%s has %d parameters, not %d", r.Method, row.params, len(r.Params))
	}
	return row, nil
}

// unknown returns the error for a method that is not in the table. A version of the protocol never
// loses a method.
func (c *caller) unknown(method string) error {
	if c.Hello.Protocol < wire.Protocol {
		return fault.New("use the program of the daemon", "the program (%s) is older than the daemon (%s), which no longer knows %q", c.Hello.Version, c.Version, method)
	}
	return fault.New("when the agents are done, end the daemon with 'ironcurtain-mux stop' and start it again",
		"the daemon (%s) is older than the program (%s) and does not know %q", c.Version, c.Hello.Version, method)
}

// refusal returns the error for a call that the client's right does not allow.
func refusal(what string, right wire.Right) error {
	return fault.New("attach without a limit", "this client may not do that: its right %q does not allow %s", right, what)
}

// answer makes a call and sends its result.
func (c *caller) answer(ctx context.Context, r request, row row) {
	result, err := row.call(ctx, c, r.Params)
	if events, ok := result.(<-chan broker.Event); ok && err == nil {
		c.stream(ctx, r.ID, events)
		return
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(result)
	}
	if n := len(text); err == nil && n > maxResult {
		err = fmt.Errorf("the result of %s has %d bytes, more than the limit of %d", r.Method, n, maxResult)
	}
	if err != nil {
		_ = c.send(answer{ID: r.ID, Error: errorOf(err)}) // the client may be gone
		return
	}
	if len(text) > maxPart {
		for part := range slices.Chunk(text, maxPart) {
			if c.send(answer{ID: r.ID, Part: part}) != nil {
				return
			}
		}
		text = []byte("null")
	}
	_ = c.send(answer{ID: r.ID, Result: text}) // the client may be gone
}

func (c *caller) send(a answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return c.conn.SendText("answer", text)
}
