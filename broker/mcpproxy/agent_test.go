package mcpproxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// agent is one MCP client that sends what it likes.
type agent struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func (r *harness) agent() *agent {
	r.t.Helper()
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	a := newAgent(r.t, conn)
	a.greet()
	return a
}

func newAgent(t testing.TB, conn net.Conn) *agent {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	return &agent{t: t, conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}
}

func (a *agent) greet() {
	a.t.Helper()
	a.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
	if m := a.receive(); m.Result == nil {
		a.t.Fatalf("initialize: %+v", m)
	}
	a.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

type received struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// text is the first text of a tool result.
func (m received) text() string {
	var r struct {
		Content []struct{ Text string }
	}
	if json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func (m received) isError() bool {
	var r struct{ IsError bool }
	return m.Error != nil || json.Unmarshal(m.Result, &r) == nil && r.IsError
}

func (a *agent) send(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.conn, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) receive() received {
	a.t.Helper()
	_ = a.conn.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := a.in.ReadBytes('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	var m received
	if err := json.Unmarshal(line, &m); err != nil {
		a.t.Fatalf("%v: %.200s", err, line)
	}
	return m
}

// answerTo reads until the answer to a request arrives.
func (a *agent) answerTo(id string) received {
	a.t.Helper()
	for {
		if m := a.receive(); string(m.ID) == id {
			return m
		}
	}
}

func callLine(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// call makes a call and waits for its answer.
func (a *agent) call(id, tool, arguments string) received {
	a.t.Helper()
	a.send(callLine(id, tool, arguments))
	return a.answerTo(id)
}
