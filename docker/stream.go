package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"

	engine "github.com/fsouza/go-dockerclient"
)

// detachKeys is the key sequence that ends an attachment. The engine always has one,
// and it holds back the first key of the sequence until the next key comes. So this
// sequence consists of bytes that never occur in UTF-8 input.
const detachKeys = "\xff,\xfe,\xff,\xfd,\xff,\xfc,\xfe,\xff"

// stream is the terminal of a running container. It reads and writes the connection to
// the engine directly, so that a key or its echo does not pass through another
// goroutine. It has no buffer: an agent that writes faster than the reader reads is
// blocked.
type stream struct {
	conn   net.Conn
	raw    syscall.RawConn // of conn, for TryWrite; nil if conn is not a Unix socket
	out    unbuffered      // the container's output, read from conn
	closed atomic.Bool
}

// attach connects to a container's terminal. It also works before the container was started.
func (c *Client) attach(ctx context.Context, id string) (*stream, error) {
	conn, in, err := c.upgraded(ctx, attachRequest(id))
	if err != nil {
		return nil, err
	}
	return newStream(conn, in)
}

// upgraded opens a connection and makes it a byte stream with a request; see upgrade.
func (c *Client) upgraded(ctx context.Context, request *http.Request) (net.Conn, *bufio.Reader, error) {
	conn, err := c.dial.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	in, err := upgrade(conn, request)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, in, nil
}

// newStream makes a stream of a connection. buffered has the bytes that were read from it already.
func newStream(conn net.Conn, buffered *bufio.Reader) (s *stream, err error) {
	s = &stream{conn: conn, out: unbuffered{buffered, conn}}
	if local, ok := conn.(*net.UnixConn); ok {
		if s.raw, err = local.SyscallConn(); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return s, nil
}

// attachRequest asks for the terminal of a container.
func attachRequest(id string) *http.Request {
	query := url.Values{"stream": {"1"}, "stdin": {"1"}, "stdout": {"1"}, "stderr": {"1"}, "detachKeys": {detachKeys}}
	return &http.Request{
		Method: http.MethodPost,
		Host:   placeholder,
		URL:    &url.URL{Scheme: "http", Host: placeholder, Path: "/containers/" + id + "/attach", RawQuery: query.Encode()},
		Header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"tcp"}},
	}
}

// upgrade makes the engine turn a connection into a byte stream. The returned reader may have
// buffered the first bytes of that stream; read the others from conn.
func upgrade(conn net.Conn, request *http.Request) (*bufio.Reader, error) {
	if err := request.Write(conn); err != nil {
		return nil, fmt.Errorf("send the request to the engine: %w", err)
	}
	in := bufio.NewReaderSize(io.LimitReader(conn, headLimit), headLimit)
	return in, judgeAnswer(in)
}

const headLimit = 16 << 10 // bytes of an answer of the engine that are read

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

// Read returns what the agent wrote. It returns io.EOF when the stream has ended or
// failed, and io.ErrClosedPipe after Close.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.out.Read(p)
	switch {
	case err == nil || n > 0:
		return n, nil
	case s.closed.Load():
		return 0, io.ErrClosedPipe
	case errors.Is(err, os.ErrDeadlineExceeded): // see HoldReads
		return 0, err
	}
	_ = s.conn.Close() // otherwise the engine would still accept input
	return 0, io.EOF
}

// Write passes bytes to the agent unchanged.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.conn.Write(p)
	if errors.Is(err, net.ErrClosed) {
		err = io.ErrClosedPipe
	}
	return n, err
}

// TryWrite writes as many bytes as the engine takes without blocking and returns their
// number. It writes none where raw is nil.
func (s *stream) TryWrite(p []byte) (n int, err error) {
	if s.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	if s.raw == nil || len(p) == 0 {
		return 0, nil
	}
	var failed error
	err = s.raw.Write(func(fd uintptr) bool {
		n, failed = syscall.Write(int(fd), p)
		return true
	})
	if errors.Is(failed, syscall.EAGAIN) || errors.Is(failed, syscall.EINTR) {
		failed = nil
	}
	return max(n, 0), errors.Join(err, failed)
}

// Close detaches. Reads and writes under way return.
func (s *stream) Close() error {
	if !s.closed.Swap(true) {
		_ = s.conn.Close()
	}
	return nil
}

// unbuffered reads what is left in a buffer first, then from the source.
type unbuffered struct {
	rest   *bufio.Reader // nil when it is empty
	source io.Reader
}

func (u *unbuffered) Read(p []byte) (int, error) {
	if u.rest != nil {
		if left := u.rest.Buffered(); left > 0 {
			return u.rest.Read(p[:min(len(p), left)])
		}
		u.rest = nil
	}
	return u.source.Read(p)
}
