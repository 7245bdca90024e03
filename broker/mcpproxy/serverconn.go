package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// errServerGone is the error of a request whose server has ended.
var errServerGone = errors.New("the server ended")

// serverGone is the error of a request after reading or writing has failed. A closed pipe is left
// out of it: that says only that the server has ended.
func serverGone(err error) error {
	for _, closed := range []error{io.EOF, os.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, closed) {
			return errServerGone
		}
	}
	return fmt.Errorf("%w: %w", errServerGone, err)
}

// serverConn is the connection to one running server. For the handshake it is a transport of mcp-go's
// client. It sends tool calls without mcp-go, so that the bytes of parameters and results do not
// change.
type serverConn struct {
	peer   peer
	out    *jsonrpc.Writer
	limit  int
	room   *room
	life   context.Context // ends when the connection is closed
	cancel context.CancelFunc
	roots  roots

	mu       sync.Mutex
	ended    error
	waiting  map[string]*waiter
	progress map[string]func(json.RawMessage)
	webs     map[string]*webCall // by the id of the call that each belongs to
	calls    uint64
	notify   func(mcp.JSONRPCNotification)

	requests chan serverRequest // to the answering goroutine; a flood is dropped
	heard    chan struct{}      // closed when the server's output was read to its end
	readers  sync.WaitGroup
}

var _ transport.Interface = (*serverConn)(nil)

// newServerConn makes the connection to a running server and begins to read its output.
func newServerConn(p peer, limits Limits, room *room, open []string) *serverConn {
	sc := &serverConn{
		peer: p, limit: limits.Line, room: room, roots: roots{base: open, limit: limits.Roots},
		waiting: map[string]*waiter{}, progress: map[string]func(json.RawMessage){}, webs: map[string]*webCall{},
		requests: make(chan serverRequest, 16), heard: make(chan struct{}),
	}
	sc.life, sc.cancel = context.WithCancel(context.Background())
	// One caller's line can be written by another caller. The first one waits for an answer, so end
	// reports the failed write to it.
	sc.out = jsonrpc.NewWriter(p.Stdin(), writeDeadline(p.Stdin()), sc.end)
	sc.readers.Go(sc.read)
	sc.readers.Go(sc.answerServer)
	return sc
}

// writeDeadline returns the function that sets the deadline of writes to w, or nil.
func writeDeadline(w io.Writer) func(time.Time) error {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline
	}
	return nil
}

// Start is part of the transport interface; a connection has started when it exists.
func (sc *serverConn) Start(context.Context) error { return nil }

// GetSessionId is part of the transport interface. The peer has the session, if there is one.
func (sc *serverConn) GetSessionId() string { return "" } //nolint:revive // the interface spells it so

// SetNotificationHandler sets the function that is called with a server's notifications.
func (sc *serverConn) SetNotificationHandler(f func(mcp.JSONRPCNotification)) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.notify = f
}

// SendRequest asks the server something and waits for the answer.
func (sc *serverConn) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, err := json.Marshal(r.ID)
	if err != nil {
		return nil, err
	}
	params, err := encode(r.Params)
	if err != nil {
		return nil, err
	}
	got, err := sc.ask(ctx, id, r.Method, params, nil)
	if err != nil {
		return nil, err
	}
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID, Result: got.result}, nil
}

// SendNotification tells the server something.
func (sc *serverConn) SendNotification(_ context.Context, n mcp.JSONRPCNotification) error {
	msg, err := encode(n)
	if err != nil {
		return err
	}
	return sc.out.Send(msg)
}

// awaitOutput waits until the output of a server that has ended is read to its end, for
// lastWordsWait at most: a process that the server left behind could keep the output open.
func (sc *serverConn) awaitOutput() {
	timer := time.NewTimer(lastWordsWait)
	defer timer.Stop()
	select {
	case <-sc.heard:
	case <-timer.C:
	}
}

// lastWordsWait bounds the wait for the last output of a server that has ended.
const lastWordsWait = time.Second

// Close ends the server and waits for the readers.
func (sc *serverConn) Close() error {
	sc.cancel()
	sc.peer.Stop()
	sc.readers.Wait()
	return nil
}
