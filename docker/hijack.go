package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	engine "github.com/fsouza/go-dockerclient"
)

// handshakeConn is a connection to the engine that keeps the engine's first answer.
// The library turns the connection into a byte stream without checking that answer, so
// a refusal would appear as output of the agent.
type handshakeConn struct {
	net.Conn
	mu       sync.Mutex
	head     []byte // the bytes read so far; at most headLimit
	finished bool   // the handshake is over and head is no longer filled
}

const headLimit = 16 << 10

// Read keeps a copy of everything until the handshake is over.
func (h *handshakeConn) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.mu.Lock()
	if !h.finished && len(h.head)+n <= headLimit {
		h.head = append(h.head, p[:n]...)
	}
	h.mu.Unlock()
	return n, err
}

// CloseWrite tells the engine that there is no more input. The library calls it when
// the agent has ended. It does nothing on a connection that cannot half-close.
func (h *handshakeConn) CloseWrite() error {
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// finish ends the handshake. It returns nil when the engine switched to a byte stream,
// and the engine's refusal otherwise.
func (h *handshakeConn) finish() error {
	h.mu.Lock()
	head := h.head
	h.head, h.finished = nil, true
	h.mu.Unlock()
	// The rest of a refusal may not have arrived yet.
	_ = h.SetReadDeadline(time.Now().Add(2 * time.Second))
	err := judgeHandshake(io.MultiReader(bytes.NewReader(head), h.Conn))
	_ = h.SetReadDeadline(time.Time{})
	return err
}

// judgeHandshake reads the engine's answer to a request for a byte stream. The caller
// passes a copy of the bytes, so that reading ahead loses nothing of the stream.
func judgeHandshake(answer io.Reader) error { return judgeAnswer(bufio.NewReader(answer)) }

// judgeAnswer reads the engine's answer. If the engine accepted, it reads nothing after
// the head.
func judgeAnswer(answer *bufio.Reader) error {
	resp, err := http.ReadResponse(answer, nil)
	if err != nil {
		return fmt.Errorf("the engine closed the connection: %w", err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode == http.StatusOK {
		return nil // the stream follows; there is no body to read or close
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, headLimit))
	api := &engine.Error{Status: resp.StatusCode, Message: engineMessage(string(body))}
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%w: %w", ErrNoContainer, api)
	}
	return api
}

// engineMessage returns the text of the engine's JSON error.
func engineMessage(body string) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(body), &e) == nil && e.Message != "" {
		return oneLine(e.Message)
	}
	return oneLine(body)
}

// hijacked is a request that became a byte stream.
type hijacked struct {
	conn *handshakeConn
	cw   engine.CloseWaiter
}

// hijack runs one of the library's attaching calls on a connection that this package
// opened. It returns when the engine has accepted or refused. After a refusal, an error
// or the end of ctx nothing is left running.
func (c *Client) hijack(ctx context.Context, call func(*engine.Client, chan struct{}) (engine.CloseWaiter, error)) (*hijacked, error) {
	conn, err := c.dial.open(ctx)
	if err != nil {
		return nil, err
	}
	h := &handshakeConn{Conn: conn}
	api := c.bound(ctx)
	api.Dialer = presetDialer{h}
	success := make(chan struct{})
	cw, err := call(api, success)
	if err != nil {
		conn.Close()
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	<-success // always arrives, at the latest when the connection is closed
	inTime := stop()
	err = h.finish()
	if !inTime {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
	}
	success <- struct{}{}
	if err != nil {
		_ = cw.Wait()
		return nil, err
	}
	return &hijacked{conn: h, cw: cw}, nil
}

// presetDialer is a dialer that returns a connection opened before.
type presetDialer struct{ conn net.Conn }

func (g presetDialer) Dial(_, _ string) (net.Conn, error) { return g.conn, nil }
