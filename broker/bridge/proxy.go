package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Limits of the connections to the model.
const (
	maxConns = 256              // at the same time; others wait to be accepted
	hostWait = 60 * time.Second // how long a connection waits for a host that is away
	// unread is how many bytes of an answer the kernel buffers for an agent that does not read. It
	// is small so that the host notices soon: by default, minutes of a model's stream fit.
	unread = 64 << 10
)

// Proxy carries every connection that listener accepts to a new one on the host's socket, until ctx
// ends; then it closes all of them. While nobody listens on the socket, a connection waits for a
// minute.
func Proxy(ctx context.Context, listener net.Listener, socket string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var conns sync.WaitGroup
	defer conns.Wait()
	slots := make(chan struct{}, maxConns)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := accept.Next(ctx, listener, func(error, time.Duration) {}) // errors are retried silently
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			cancel()
			return err
		}
		conns.Go(func() {
			defer func() { <-slots }()
			carry(ctx, conn.(*net.TCPConn), socket)
		})
	}
}

// carry passes bytes between a connection of the agent and a new one to the host until both
// directions have ended.
func carry(ctx context.Context, agent *net.TCPConn, socket string) {
	defer agent.Close()
	_ = agent.SetWriteBuffer(unread) // if it fails, more is buffered
	waiting, cancel := context.WithTimeout(ctx, hostWait)
	host, err := dial(waiting, socket)
	cancel()
	if err != nil {
		return // the agent sees its connection closed
	}
	defer host.Close()
	Join(ctx, agent, host)
}

// HalfCloser is a connection that can be closed in one direction.
type HalfCloser interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Join passes bytes between two connections until both directions have ended or ctx ends. When one
// direction ends, the other one goes on. The caller closes the connections.
func Join(ctx context.Context, a, b HalfCloser) {
	stop := context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	defer stop()
	var ways sync.WaitGroup
	ways.Go(func() { pass(a, b) })
	ways.Go(func() { pass(b, a) })
	ways.Wait()
}

// pass copies one direction and passes on its end. If a connection breaks, it closes both.
func pass(to, from HalfCloser) {
	_, err := io.Copy(to, from)
	if err != nil || !closed(to.CloseWrite()) {
		_, _ = to.Close(), from.Close()
	}
}

// closed reports whether closing has succeeded or was not necessary.
func closed(err error) bool { return err == nil || errors.Is(err, net.ErrClosed) }
