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

// link is the connection to one running server. For the handshake it is a transport of mcp-go's
// client. It sends tool calls without mcp-go, so that the bytes of parameters and results do not
// change.
type link struct {
	peer   peer
	out    *jsonrpc.Writer
	limit  int
	room   *room
	life   context.Context // ends when the link is closed
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

var _ transport.Interface = (*link)(nil)

// newLink makes the link to a running server and begins to read its output.
func newLink(p peer, limits Limits, room *room, open []string) *link {
	l := &link{
		peer: p, limit: limits.Line, room: room, roots: roots{base: open, limit: limits.Roots},
		waiting: map[string]*waiter{}, progress: map[string]func(json.RawMessage){}, webs: map[string]*webCall{},
		requests: make(chan serverRequest, 16), heard: make(chan struct{}),
	}
	l.life, l.cancel = context.WithCancel(context.Background())
	// One caller's line can be written by another caller. The first one waits for an answer, so end
	// reports the failed write to it.
	l.out = jsonrpc.NewWriter(p.Stdin(), writeDeadline(p.Stdin()), l.end)
	l.readers.Go(l.read)
	l.readers.Go(l.answerServer)
	return l
}

// writeDeadline returns the function that sets the deadline of writes to w, or nil.
func writeDeadline(w io.Writer) func(time.Time) error {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline
	}
	return nil
}

// Start is part of the transport interface; a link has started when it exists.
func (l *link) Start(context.Context) error { return nil }

// GetSessionId is part of the transport interface. The peer has the session, if there is one.
func (l *link) GetSessionId() string { return "" } //nolint:revive // the interface spells it so

// SetNotificationHandler sets the function that is called with a server's notifications.
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
	got, err := l.ask(ctx, id, r.Method, params, nil)
	if err != nil {
		return nil, err
	}
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID, Result: got.result}, nil
}

// SendNotification tells the server something.
func (l *link) SendNotification(_ context.Context, n mcp.JSONRPCNotification) error {
	msg, err := encode(n)
	if err != nil {
		return err
	}
	return l.out.Send(msg)
}

// awaitOutput waits until the output of a server that has ended is read to its end, for
// lastWordsWait at most: a process that the server left behind could keep the output open.
func (l *link) awaitOutput() {
	timer := time.NewTimer(lastWordsWait)
	defer timer.Stop()
	select {
	case <-l.heard:
	case <-timer.C:
	}
}

// lastWordsWait bounds the wait for the last output of a server that has ended.
const lastWordsWait = time.Second

// Close ends the server and waits for the readers.
func (l *link) Close() error {
	l.cancel()
	l.peer.Stop()
	l.readers.Wait()
	return nil
}
