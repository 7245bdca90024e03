package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// maxOpen is how many requests of an agent may be unanswered; others are refused.
const maxOpen = 256

// finishWait is how long the bridge waits for answers after the agent has closed its input.
const finishWait = 10 * time.Second

// MCP carries an agent's messages from in to the host's socket, and the answers to out. It returns
// when the agent has closed in and has its answers, when out cannot be written to, or when ctx ends.
// A pending read of in ends only when the caller closes in.
func MCP(ctx context.Context, in io.Reader, out io.Writer, socket string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := &mcp{socket: socket, out: out, cancel: cancel, arrived: make(chan struct{}, 1), unanswered: map[string]bool{}}
	read := make(chan error, 1)
	go func() { read <- m.read(in) }()
	served := make(chan struct{})
	go func() {
		defer close(served)
		m.serve(ctx)
	}()
	var err error
	select {
	case err = <-read: // the agent sends nothing more
		err = errors.Join(err, m.finish(ctx))
		cancel(nil)
		<-served
	case <-served:
	}
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// mcp is the bridge of one agent to the host's tools.
type mcp struct {
	socket string
	cancel context.CancelCauseFunc

	writing sync.Mutex
	out     io.Writer

	arrived chan struct{} // lossy: there is something to send, or the agent sends nothing more

	mu          sync.Mutex
	initialize  []byte // the agent's request; nil before
	initialized []byte // the notification after it
	queue       []item // to be sent, in order
	open        []item // sent and not answered
	unanswered  map[string]bool
	inits       int // how often initialize was repeated
	last        bool
	idle        chan struct{} // closed when last is set and nothing is open
}

// item is one message on its way to the host.
type item struct {
	line   []byte
	id     string // empty: a notification
	method string
	ticket string // of a call that waits for a person on the host

	unbegun bool // the host has said that nothing of the call is done
}

// read takes the agent's messages until there are no more.
func (m *mcp) read(in io.Reader) error {
	from := jsonrpc.NewReader(in, maxLine)
	for {
		line, err := next(from)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the agent: %w", err)
		}
		if answer := m.enqueue(line); answer != nil {
			m.answer(answer)
		}
	}
}

// enqueue queues a message of the agent, or returns the answer to one that is refused.
func (m *mcp) enqueue(line []byte) []byte {
	e := parseEnvelope(line)
	it := item{line: line, id: string(e.ID), method: e.Method}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Method == "notifications/initialized":
		m.initialized = line
	case e.Method == "notifications/cancelled":
		if m.forget(string(e.Params.RequestID)) {
			return nil // it was never sent to the host
		}
	case it.id != "" && e.Method != "" && m.unanswered[it.id]:
		return refused(e.ID, "a request with this id is not answered yet")
	case it.id != "" && e.Method != "" && len(m.unanswered) >= maxOpen:
		return refused(e.ID, fmt.Sprintf("%d requests are not answered yet", maxOpen))
	case e.Method == "initialize":
		m.initialize = line
	}
	if it.id != "" && e.Method != "" {
		m.unanswered[it.id] = true
	} else {
		it.id = ""
	}
	m.queue = append(m.queue, it)
	signal(m.arrived)
	return nil
}

// forget drops a request that the agent has cancelled, and reports whether it was never sent. The
// caller holds the lock.
func (m *mcp) forget(id string) (unsent bool) {
	if id == "" || !m.unanswered[id] {
		return false
	}
	delete(m.unanswered, id)
	before := len(m.queue)
	same := func(it item) bool { return it.id == id }
	m.queue = slices.DeleteFunc(m.queue, same)
	m.open = slices.DeleteFunc(m.open, same)
	m.closeIfIdle()
	return len(m.queue) < before
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// finish waits until all of the agent's requests are answered, or a timeout.
func (m *mcp) finish(ctx context.Context) error {
	m.mu.Lock()
	m.last, m.idle = true, make(chan struct{})
	idle := m.idle
	m.closeIfIdle()
	m.mu.Unlock()
	signal(m.arrived)
	limit := time.NewTimer(finishWait)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

// closeIfIdle closes idle when no request is open. The caller holds the lock.
func (m *mcp) closeIfIdle() {
	if m.last && len(m.unanswered) == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

// answer writes one line to the agent. If that fails, it ends the bridge.
func (m *mcp) answer(line []byte) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if _, err := m.out.Write(append(line, '\n')); err != nil {
		m.cancel(fmt.Errorf("write to the agent: %w", err))
	}
}
