package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"
)

// detachKeys is the sequence that would end an attachment. The engine cannot
// be told to have none, and it holds back the first key of the sequence until
// the next one comes; so it gets bytes that never occur in UTF-8 input, in an
// order nobody sends.
const detachKeys = "\xff,\xfe,\xff,\xfd,\xff,\xfc,\xfe,\xff"

// stream is the terminal of a running container: the very connection to the
// engine, so that a key or its echo is not handed from one goroutine to another.
// Nothing of it is buffered: an agent that writes faster than the reader reads is
// held back.
type stream struct {
	conn   net.Conn
	now    syscall.RawConn // of conn; nil where it cannot be written to without waiting
	out    io.Reader       // what comes from conn
	closed atomic.Bool
}

// attach connects to a container's terminal or, without one, to its combined
// output. The container may not have been started yet.
func (c *Client) attach(ctx context.Context, id string, tty, input bool) (*stream, error) {
	conn, err := c.dial.open(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	in, err := upgrade(conn, attachRequest(id, input))
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := &stream{conn: conn, out: &unbuffered{in, conn}}
	if !tty {
		s.out = &multiplexed{source: s.out}
	}
	if local, ok := conn.(*net.UnixConn); ok {
		if s.now, err = local.SyscallConn(); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return s, nil
}

// attachRequest asks for the terminal of a container. The host is made up, as in
// every request that goes over a connection of our own.
func attachRequest(id string, input bool) *http.Request {
	query := url.Values{"stream": {"1"}, "stdout": {"1"}, "stderr": {"1"}, "detachKeys": {detachKeys}}
	if input {
		query.Set("stdin", "1")
	}
	return &http.Request{
		Method: http.MethodPost,
		Host:   "docker",
		URL:    &url.URL{Scheme: "http", Host: "docker", Path: "/containers/" + id + "/attach", RawQuery: query.Encode()},
		Header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"tcp"}},
	}
}

// upgrade has the engine turn a connection into a byte stream. What has come of
// that already is in the reader it returns.
func upgrade(conn net.Conn, request *http.Request) (*bufio.Reader, error) {
	if err := request.Write(conn); err != nil {
		return nil, fmt.Errorf("the engine takes no request: %w", err)
	}
	in := bufio.NewReaderSize(conn, headLimit)
	return in, judgeAnswer(in)
}

// Read returns what the agent wrote; io.EOF when the stream has ended from
// either side, and io.ErrClosedPipe after Close.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.out.Read(p)
	switch {
	case err == nil || n > 0:
		return n, nil
	case s.closed.Load():
		return 0, io.ErrClosedPipe
	}
	// The engine would go on taking what nobody reads.
	_ = s.conn.Close()
	return 0, io.EOF
}

// Write passes bytes to the agent as they are.
func (s *stream) Write(p []byte) (int, error) {
	n, err := s.conn.Write(p)
	if errors.Is(err, net.ErrClosed) {
		err = io.ErrClosedPipe
	}
	return n, err
}

// TryWrite passes the bytes that the engine takes without waiting, and returns
// how many those were; none where that cannot be told.
func (s *stream) TryWrite(p []byte) (n int, err error) {
	if s.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	if s.now == nil || len(p) == 0 {
		return 0, nil
	}
	var failed error
	err = s.now.Write(func(fd uintptr) bool {
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

// unbuffered reads what a buffer has left, and from its source after that.
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

// multiplexed reads the output of a program without a terminal, standard output
// and errors alike. Each piece comes behind eight bytes of which the last four
// are its length.
type multiplexed struct {
	source io.Reader
	left   uint32 // of the piece
}

func (m *multiplexed) Read(p []byte) (int, error) {
	for m.left == 0 {
		var head [8]byte
		if _, err := io.ReadFull(m.source, head[:]); err != nil {
			return 0, err
		}
		m.left = binary.BigEndian.Uint32(head[4:])
	}
	n, err := m.source.Read(p[:min(len(p), int(m.left))])
	m.left -= uint32(n)
	return n, err
}
