package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// serve connects to the host again and again until ctx ends.
func (m *mcp) serve(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := dial(ctx, m.socket)
		if err != nil {
			return // only the end of ctx ends the dialing
		}
		began := time.Now()
		m.carry(ctx, conn)
		for _, line := range m.requeue() {
			m.answer(line)
		}
		if time.Since(began) < maxPause { // the host closes connections at once: do not flood it
			wait(ctx, maxPause/4)
		}
	}
}

// drainWait is how long the bridge waits for the host's last answers when it must end. A host
// without answers closes the connection at once.
const drainWait = time.Second

// carry carries messages over one connection until it ends.
func (m *mcp) carry(ctx context.Context, conn *net.UnixConn) {
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetWriteDeadline(time.Now())
		_ = conn.SetReadDeadline(time.Now().Add(drainWait))
		_ = conn.CloseWrite()
	})
	defer stop()
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	greeted := make(chan struct{})
	reading.Go(func() {
		defer cancel()
		m.receive(jsonrpc.NewReader(conn, maxLine), greeted)
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

// next moves the first message of the queue to the sent ones. It does so before the message is
// written, because the host may receive even a part of a failed write.
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

// greet repeats the agent's initialize to a new host, and reports whether the connection is ready. On
// the first connection there is nothing to repeat.
func (m *mcp) greet(ctx context.Context, conn *net.UnixConn, greeted <-chan struct{}) bool {
	m.mu.Lock()
	initialize, initialized := m.initialize, m.initialized
	for _, it := range m.queue {
		if it.method == "initialize" {
			initialize = nil // it is sent with the queue
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
		return true // it is malformed, and the first host has refused it
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
		m.answer(jsonrpc.Notification("notifications/tools/list_changed", nil))
	}
	return true
}

// withID returns a request with another id.
func withID(line []byte, id json.RawMessage) ([]byte, error) {
	var message map[string]json.RawMessage
	if err := json.Unmarshal(line, &message); err != nil {
		return nil, err
	}
	message["id"] = id
	return json.Marshal(message)
}

// receive passes the host's messages on until the connection ends.
func (m *mcp) receive(from *jsonrpc.Reader, greeted chan<- struct{}) {
	for {
		line, err := next(from)
		if err != nil {
			return
		}
		e := parseEnvelope(line)
		switch e.Method {
		case notifyWaiting:
			m.keepTicket(string(e.Params.RequestID), e.Params.Ticket)
			continue
		case notifyUnbegun, notifyBegun:
			m.noteBegun(string(e.Params.RequestID), e.Method == notifyBegun)
			continue
		}
		if len(e.ID) > 0 && e.Method == "" {
			if len(e.ID) > len(privatePrefix) && string(e.ID[:len(privatePrefix)]) == privatePrefix {
				close(greeted) // the host answers each request once
				greeted = make(chan struct{})
				continue
			}
			if it := m.answered(string(e.ID)); it.method == methodResume && e.Error != nil {
				line = interrupted(e.ID) // the host does not know how to resume
			}
		}
		m.answer(line)
	}
}

// answered removes a request that has been answered, and returns it.
func (m *mcp) answered(id string) (request item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.open, func(it item) bool { return it.id == id }); i >= 0 {
		request = m.open[i]
		m.open = slices.Delete(m.open, i, i+1)
	}
	delete(m.unanswered, id)
	m.closeIfIdle()
	return request
}

// requeue queues the open requests again after the connection has ended, except those that must not
// be repeated: it ends these and returns their answers.
func (m *mcp) requeue() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var answers [][]byte
	var again []item
	for _, it := range m.open {
		switch {
		case it.method == methodResume:
		case it.method == "tools/call" && it.ticket != "":
			it = resumption(it)
		case it.method == "tools/call" && it.unbegun:
			it.unbegun = false
		case it.method == "tools/call":
			answers = append(answers, interrupted(json.RawMessage(it.id)))
			delete(m.unanswered, it.id)
			continue
		}
		again = append(again, it)
	}
	m.queue, m.open = append(again, m.queue...), nil
	m.closeIfIdle()
	return answers
}
