package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// maxOpen is how many requests of an agent may be unanswered; more are refused.
const maxOpen = 256

// lastWords is how long the answers to an agent's last requests are waited for
// once it has said that there will be no more.
const lastWords = 10 * time.Second

// MCP carries an agent's messages from in to the host's socket and the answers
// to out. It returns when the agent has closed in and has its answers, when out
// cannot be written to, or when ctx ends. in must be closed by the caller for the
// reading to end before that.
func MCP(ctx context.Context, in io.Reader, out io.Writer, socket string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	m := &mcp{socket: socket, out: out, cancel: cancel, arrived: make(chan struct{}, 1), asked: map[string]bool{}}
	read := make(chan error, 1)
	go func() { read <- m.read(in) }()
	served := make(chan struct{})
	go func() {
		defer close(served)
		m.serve(ctx)
	}()
	var err error
	select {
	case err = <-read: // the agent has said its last word
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

	arrived chan struct{} // lossy: there is something to send, or nothing more to come

	mu          sync.Mutex
	initialize  []byte // as the agent sent it; nil before
	initialized []byte // the notification after it
	queue       []item // to be sent, in order
	open        []item // sent and not answered
	asked       map[string]bool
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
}

// read takes the agent's messages until there are no more.
func (m *mcp) read(in io.Reader) error {
	from := newLines(in)
	for {
		line, err := from.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the agent: %w", err)
		}
		if answer := m.take(line); answer != nil {
			m.answer(answer)
		}
	}
}

// take queues a message of the agent. It returns the answer to one that is not
// passed on.
func (m *mcp) take(line []byte) []byte {
	e := look(line)
	it := item{line: line, id: string(e.ID), method: e.Method}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Method == "notifications/initialized":
		m.initialized = line
	case e.Method == "notifications/cancelled":
		if m.forget(string(e.Params.RequestID)) {
			return nil // the host has never heard of it
		}
	case it.id != "" && e.Method != "" && m.asked[it.id]:
		return refused(e.ID, "a request with this id is not answered yet")
	case it.id != "" && e.Method != "" && len(m.asked) >= maxOpen:
		return refused(e.ID, fmt.Sprintf("%d requests are not answered yet", maxOpen))
	case e.Method == "initialize":
		m.initialize = line
	}
	if it.id != "" && e.Method != "" {
		m.asked[it.id] = true
	} else {
		it.id = ""
	}
	m.queue = append(m.queue, it)
	signal(m.arrived)
	return nil
}

// forget takes back a request that the agent waits for no longer. It reports
// whether it was never sent. The lock is held.
func (m *mcp) forget(id string) (unsent bool) {
	if id == "" || !m.asked[id] {
		return false
	}
	delete(m.asked, id)
	before := len(m.queue)
	same := func(it item) bool { return it.id == id }
	m.queue = slices.DeleteFunc(m.queue, same)
	m.open = slices.DeleteFunc(m.open, same)
	m.settle()
	return len(m.queue) < before
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// finish waits for the answers to what the agent has asked.
func (m *mcp) finish(ctx context.Context) error {
	m.mu.Lock()
	m.last, m.idle = true, make(chan struct{})
	idle := m.idle
	m.settle()
	m.mu.Unlock()
	signal(m.arrived)
	limit := time.NewTimer(lastWords)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

// settle notes that nothing is open any more. The lock is held.
func (m *mcp) settle() {
	if m.last && len(m.asked) == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

// answer writes one line to the agent. A bridge that cannot is of no use.
func (m *mcp) answer(line []byte) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if _, err := m.out.Write(append(line, '\n')); err != nil {
		m.cancel(fmt.Errorf("write to the agent: %w", err))
	}
}

// serve connects to the host again and again until ctx ends.
func (m *mcp) serve(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := dial(ctx, m.socket)
		if err != nil {
			return // only the end of ctx ends the dialing
		}
		began := time.Now()
		m.connected(ctx, conn)
		for _, line := range m.lost() {
			m.answer(line)
		}
		if time.Since(began) < mostPause { // a host that hangs up at once is left in peace
			wait(ctx, mostPause/4)
		}
	}
}

// connected carries messages over one connection until it ends.
func (m *mcp) connected(ctx context.Context, conn *net.UnixConn) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	greeted := make(chan struct{})
	reading.Go(func() {
		defer cancel()
		m.receive(newLines(conn), greeted)
	})
	if !m.greet(ctx, conn, greeted) {
		return
	}
	for {
		for {
			it, more := m.next()
			if !more {
				break
			}
			if _, err := conn.Write(append(it.line, '\n')); err != nil {
				return
			}
		}
		select {
		case <-m.arrived:
		case <-ctx.Done():
			return
		}
	}
}

// next moves the first message of the queue to those that were sent: from the
// first byte on it may have reached the host.
func (m *mcp) next() (item, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return item{}, false
	}
	it := m.queue[0]
	m.queue = m.queue[1:]
	if it.id != "" {
		m.open = append(m.open, it)
	}
	return it, true
}

// privatePrefix begins the ids of the bridge's own requests.
const privatePrefix = `"ironcurtain-bridge-`

// greet repeats the agent's initialize to a host that has not heard it, and
// reports whether the connection is ready for more. On the first connection the
// agent's own is still to come.
func (m *mcp) greet(ctx context.Context, conn *net.UnixConn, greeted <-chan struct{}) bool {
	m.mu.Lock()
	initialize, initialized := m.initialize, m.initialized
	for _, it := range m.queue {
		if it.method == "initialize" {
			initialize = nil // it is on its way
		}
	}
	m.inits++
	id := json.RawMessage(fmt.Sprintf(`%s%d"`, privatePrefix, m.inits))
	m.mu.Unlock()
	if initialize == nil {
		return true
	}
	again, err := withID(initialize, id)
	if err != nil {
		return true // the host has refused it once already
	}
	if _, err := conn.Write(append(again, '\n')); err != nil {
		return false
	}
	select {
	case <-greeted:
	case <-ctx.Done():
		return false
	}
	if initialized != nil {
		if _, err := conn.Write(append(initialized[:len(initialized):len(initialized)], '\n')); err != nil {
			return false
		}
		m.answer([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	}
	return true
}

// withID is a request with another id.
func withID(line []byte, id json.RawMessage) ([]byte, error) {
	var message map[string]json.RawMessage
	if err := json.Unmarshal(line, &message); err != nil {
		return nil, err
	}
	message["id"] = id
	return json.Marshal(message)
}

// receive passes the host's messages on until the connection ends.
func (m *mcp) receive(from *lines, greeted chan<- struct{}) {
	for {
		line, err := from.next()
		if err != nil {
			return
		}
		e := look(line)
		if e.Method == notifyWaiting {
			m.waits(string(e.Params.RequestID), e.Params.Ticket)
			continue
		}
		if len(e.ID) > 0 && e.Method == "" {
			if len(e.ID) > len(privatePrefix) && string(e.ID[:len(privatePrefix)]) == privatePrefix {
				close(greeted) // the host answers each request once
				greeted = make(chan struct{})
				continue
			}
			if it := m.answered(string(e.ID)); it.method == methodResume && e.Error != nil {
				line = interrupted(e.ID) // a host that cannot resume
			}
		}
		m.answer(line)
	}
}

// answered notes that a request has its answer, and returns the request.
func (m *mcp) answered(id string) (request item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.open, func(it item) bool { return it.id == id }); i >= 0 {
		request = m.open[i]
		m.open = slices.Delete(m.open, i, i+1)
	}
	delete(m.asked, id)
	m.settle()
	return request
}

// lost ends or repeats what was under way when the connection ended, and
// returns the answers to what has ended.
func (m *mcp) lost() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var answers [][]byte
	var again []item
	for _, it := range m.open {
		switch {
		case it.method == methodResume:
		case it.method == "tools/call" && it.ticket != "":
			it = resumption(it)
		case it.method == "tools/call":
			answers = append(answers, interrupted(json.RawMessage(it.id)))
			delete(m.asked, it.id)
			continue
		}
		again = append(again, it)
	}
	m.queue, m.open = append(again, m.queue...), nil
	m.settle()
	return answers
}
