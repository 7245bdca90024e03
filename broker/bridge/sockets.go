package bridge

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// maxCarriers is how many carriers there may be at once. All but the newest are about to end.
const maxCarriers = 8

// hostSocket is a socket whose connections are carried to the host.
type hostSocket struct {
	path string
	kind mux.Kind
	most int           // connections at once; others wait to be accepted
	wait time.Duration // how long a connection waits for the host; 0: without limit
	keep bool          // do not close connections when the host is away for long
}

// all returns the sockets of a keeper. A connection to the tools is never closed because of a host
// that is away: it may have a call under way, of which nobody would know whether it was carried out.
func (w Sockets) all() []hostSocket {
	return []hostSocket{
		{path: w.Tools, kind: mux.Tools, most: 64, keep: true},
		{path: w.Model, kind: mux.Model, most: maxConns, wait: hostWait},
		{path: w.Ports, kind: mux.Ports, most: maxConns + 64},
	}
}

// listen accepts connections on all sockets until ctx ends.
func (k *keeper) listen(ctx context.Context) error {
	carriers := hostSocket{path: k.Carriers, most: maxCarriers}
	if err := k.serve(ctx, carriers, k.takeCarrier); err != nil {
		return err
	}
	for _, w := range k.Sockets.all() {
		if err := k.serve(ctx, w, func(conn *net.UnixConn) { k.join(ctx, w, conn) }); err != nil {
			return err
		}
	}
	return nil
}

// serve calls use for each connection to a socket, until ctx ends.
func (k *keeper) serve(ctx context.Context, w hostSocket, use func(*net.UnixConn)) error {
	listener, err := net.Listen("unix", w.path) //nolint:noctx // binding a path does not wait
	if err != nil {
		return err
	}
	k.running.Go(func() {
		stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
		defer stop()
		defer listener.Close()
		slots := make(chan struct{}, w.most)
		var conns sync.WaitGroup
		defer conns.Wait()
		for {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			conn, err := accept.Next(ctx, listener, func(error, time.Duration) {}) // errors are retried silently
			if err != nil {
				return
			}
			conns.Go(func() {
				defer func() { <-slots }()
				use(conn.(*net.UnixConn))
			})
		}
	})
	return nil
}

// takeCarrier receives a carrier and uses it until it breaks, or the process that has handed it over
// ends.
func (k *keeper) takeCarrier(conn *net.UnixConn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(helloWait))
	c, err := takeOver(conn)
	if err != nil {
		return
	}
	defer c.Close()
	_ = conn.SetDeadline(time.Time{})
	var watch sync.WaitGroup
	defer watch.Wait()
	defer c.Close()
	watch.Go(func() {
		_, _ = conn.Read(make([]byte, 1)) // returns when the process ends
		_ = c.Close()
	})
	k.links.carry(c)
}

// join carries a connection of the container over a stream to the host.
func (k *keeper) join(ctx context.Context, w hostSocket, conn *net.UnixConn) {
	defer conn.Close()
	if !w.keep {
		lasting, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(k.links.untilAway(), cancel)
		defer stop()
		ctx = lasting
	}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if w.wait > 0 {
		waiting, cancel = context.WithTimeout(ctx, w.wait)
	}
	stream, err := k.links.open(waiting, w.kind)
	cancel()
	if err != nil {
		return // the connection is closed
	}
	defer stream.Close()
	Join(ctx, conn, stream)
}
