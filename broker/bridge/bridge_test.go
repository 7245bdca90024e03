package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long a step may take.
const limit = time.Minute

// socketPath returns a path that is short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// agent is the agent's end of an MCP bridge.
type agent struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

// startAgent starts a bridge to the socket.
func startAgent(t *testing.T, socket string) *agent {
	t.Helper()
	a, _ := startMortal(t, socket)
	return a
}

// startMortal is startAgent, and returns a function that ends the bridge.
func startMortal(t *testing.T, socket string) (*agent, context.CancelFunc) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	a := &agent{t: t, in: inW, lines: make(chan string, 100), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := bridge.MCP(ctx, inR, outW, socket)
		_ = outW.Close()
		a.ended <- err
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for scan := bufio.NewScanner(outR); scan.Scan(); {
			a.lines <- scan.Text()
		}
	}()
	t.Cleanup(func() { cancel(); _ = inW.Close(); <-read })
	return a, cancel
}

func (a *agent) say(format string, args ...any) {
	a.t.Helper()
	if _, err := fmt.Fprintf(a.in, format+"\n", args...); err != nil {
		a.t.Fatal(err)
	}
}

// hear returns the next line that the agent gets.
func (a *agent) hear() string {
	a.t.Helper()
	select {
	case line := <-a.lines:
		return line
	case <-time.After(limit):
		a.t.Fatal("the agent hears nothing")
		return ""
	}
}

func (a *agent) hears(parts ...string) {
	a.t.Helper()
	line := a.hear()
	for _, part := range parts {
		if !strings.Contains(line, part) {
			a.t.Errorf("the agent hears %s, without %s", line, part)
		}
	}
}

// host is the host's end: it accepts connections, and the test answers.
type host struct {
	t        *testing.T
	listener net.Listener
}

func startHost(t *testing.T, socket string) *host {
	t.Helper()
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return &host{t, listener}
}

// link is one connection of the bridge to the host.
type link struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func (h *host) accept() *link {
	h.t.Helper()
	_ = h.listener.(*net.UnixListener).SetDeadline(time.Now().Add(limit))
	conn, err := h.listener.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(limit))
	return &link{h.t, conn, bufio.NewReader(conn)}
}

// request reads the next message and checks its method.
func (l *link) request(method string) (id string) {
	l.t.Helper()
	line, err := l.r.ReadString('\n')
	if err != nil {
		l.t.Fatalf("waiting for %s: %v", method, err)
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != method {
		l.t.Fatalf("the host hears %s (%v), want %s", line, err, method)
	}
	return string(m.ID)
}

func (l *link) answer(id, result string) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.conn, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result); err != nil {
		l.t.Fatal(err)
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`
	call       = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{}}}`
)

// greet carries out the initialization of MCP.
func greet(a *agent, l *link) {
	a.say(initialize)
	l.answer(l.request("initialize"), `{"v":1}`)
	a.hears(`"id":0`, `{"v":1}`)
	a.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	l.request("notifications/initialized")
}

func TestMessagesPassBothWays(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	greet(a, l)
	a.say(call, 1)
	a.say(call, 2)
	first, second := l.request("tools/call"), l.request("tools/call")
	l.answer(second, `"two"`)
	l.answer(first, `"one"`)
	a.hears(`"id":2`, `"two"`)
	a.hears(`"id":1`, `"one"`)
	_ = a.in.Close()
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
}

// The host's process is killed with calls under way and comes back. A call that was sent ends and is
// not repeated; a request that changes nothing is repeated; what was not sent yet is sent once.
func TestTheHostComesBack(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	greet(a, l)
	a.say(call, 1)
	a.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	l.request("tools/call")
	l.request("tools/list")
	_ = h.listener.Close()
	_ = l.conn.Close()
	a.hears(`"id":1`, `"isError":true`, "INTERRUPTED", "not repeated")
	a.say(call, 3)
	a.say(call, 4)
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)

	h = startHost(t, socket)
	l = h.accept()
	id := l.request("initialize")
	if !strings.Contains(id, "ironcurtain-bridge") {
		t.Errorf("initialize is repeated with the id %s", id)
	}
	l.answer(id, `{"v":2}`)
	l.request("notifications/initialized")
	a.hears("notifications/tools/list_changed") // and nothing of the second initialize
	if id := l.request("tools/list"); id != `"list"` {
		t.Errorf("the list has the id %s", id)
	}
	if id := l.request("tools/call"); id != "3" {
		t.Errorf("the call that was held back has the id %s", id)
	}
	l.answer("3", `"done"`)
	a.hears(`"id":3`, `"done"`)
	a.say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if id := l.request("ping"); id != "9" { // not the canceled call, not the interrupted one
		t.Errorf("then comes %s", id)
	}
}

// An agent that is faster than its host waits for it.
func TestTheHostComesLate(t *testing.T) {
	socket := socketPath(t)
	a := startAgent(t, socket)
	a.say(initialize)
	h := startHost(t, socket)
	l := h.accept()
	if id := l.request("initialize"); id != "0" {
		t.Errorf("initialize has the id %s", id)
	}
	l.answer("0", "{}")
	a.hears(`"id":0`)
}

// What the agent wrote before it closed its side is answered before the bridge ends.
func TestTheLastWordsAreAnswered(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	a.say(call, 1)
	_ = a.in.Close()
	l.answer(l.request("tools/call"), `"late"`)
	a.hears(`"late"`)
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
}

// Answers that the host has sent when the bridge is told to end are passed on, and the host sees the
// end of the input.
func TestTheHostsLastWordsAreHeard(t *testing.T) {
	for range 20 {
		socket := socketPath(t)
		h := startHost(t, socket)
		a, end := startMortal(t, socket)
		l := h.accept()
		a.say(call, 1)
		id := l.request("tools/call")
		l.answer(id, `"just in time"`)
		end()
		if _, err := l.r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("the host hears %v in place of the end", err)
		}
		_ = l.conn.Close()
		a.hears(`"just in time"`)
		if err := <-a.ended; err != nil {
			t.Error(err)
		}
	}
}

func TestAnIDIsUsedOnceAtATime(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	a.say(call, 1)
	a.say(call, 1)
	a.hears(`"error"`, "not answered yet")
	l.answer(l.request("tools/call"), "1")
	a.hears(`"id":1`)
	a.say(call, 1)
	l.request("tools/call")
}

// The bridge does not wait for the answer of a cancelled call.
func TestACallThatWasTakenBackIsForgotten(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	a := startAgent(t, socket)
	l := h.accept()
	a.say(call, 1)
	l.request("tools/call")
	a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	l.request("notifications/cancelled")
	_ = a.in.Close()
	if err := <-a.ended; err != nil {
		t.Error(err)
	}
}

// echo is a host for connections to the model that sends back what it reads.
func echo(t *testing.T, listener net.Listener) {
	t.Helper()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
				_ = conn.(*net.UnixConn).CloseWrite()
			}()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
}

// scarce is a listener whose first Accept fails for lack of descriptors.
type scarce struct {
	net.Listener
	failed bool
}

func (s *scarce) Accept() (net.Conn, error) {
	if !s.failed {
		s.failed = true
		return nil, syscall.EMFILE
	}
	return s.Listener.Accept()
}

// startProxy starts Proxy and returns its address.
func startProxy(t *testing.T, socket string) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- bridge.Proxy(ctx, &scarce{Listener: listener}, socket) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func exchange(t *testing.T, address string, data []byte) []byte {
	t.Helper()
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit))
	sent := make(chan error, 1)
	go func() {
		_, err := conn.Write(data)
		sent <- err
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	if werr := <-sent; err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	return got
}

func TestProxyCarriesBytesAndTheirEnd(t *testing.T) {
	socket := socketPath(t)
	echo(t, startHost(t, socket).listener)
	address := startProxy(t, socket)
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for range 3 {
		if got := exchange(t, address, data); !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back of %d", len(got), len(data))
		}
	}
}

// A connection that is made while the host is away is served when it is back.
func TestProxyWaitsForTheHost(t *testing.T) {
	socket := socketPath(t)
	address := startProxy(t, socket)
	got := make(chan []byte, 1)
	go func() { got <- exchange(t, address, []byte("hello")) }()
	echo(t, startHost(t, socket).listener)
	if text := <-got; string(text) != "hello" {
		t.Errorf("got %q", text)
	}
}

// When the host ends a connection, it ends for the agent.
func TestProxyPassesTheHostsEndOn(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	conn, err := net.Dial("tcp4", startProxy(t, socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = h.accept().conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read %d, %v", n, err)
	}
}

// If an agent does not read, the bridge soon stops reading from the host, so that the host's own
// timeout applies.
func TestProxyHoldsLittleThatNobodyReads(t *testing.T) {
	socket := socketPath(t)
	h := startHost(t, socket)
	conn, err := net.Dial("tcp4", startProxy(t, socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host, err := h.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	event, taken := bytes.Repeat([]byte("x"), 250), 0
	for {
		if err := host.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := host.Write(event)
		if taken += n; err != nil {
			break
		}
	}
	if taken > 1<<20 {
		t.Errorf("%d bytes were taken for an agent that reads nothing", taken)
	}
}
