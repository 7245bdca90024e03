package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ErrUnseen means that a container ended before it reported: the mounted sockets do not work in it.
var ErrUnseen = errors.New("the mounted sockets do not connect the container with this machine")

// ErrSilent means that a container runs and has not reported in time. Its machine may be busy.
var ErrSilent = fmt.Errorf("the container has not reported within %v", reportWithin)

// reportWithin is how long the bridge may take to report by a mounted socket, after the container's
// start. If nobody listens at the socket, the bridge ends at once.
const reportWithin = 10 * time.Second

// Approve receives the report of a bridge that was started with mounted sockets, calls check to
// judge it, and then sends go. It fails with ErrUnseen or ErrSilent if there is no report.
func Approve(ctx context.Context, l net.Listener, c Container, check func(report []byte) error) error {
	const op = "reach the container"
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(reportWithin, func() { cancel(ErrSilent) })
	defer timer.Stop()
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() {
		if _, err := c.Wait(ctx); err == nil {
			cancel(ErrUnseen)
		}
	})
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	defer l.Close()
	conn, err := l.Accept()
	if err != nil {
		return fault.Wrap(op, cmp.Or(context.Cause(ctx), err), "")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = approve(conn, check)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, ErrUnseen) { // the socket has worked
		err = cause
	}
	return fault.Wrap(op, err, "check the engine with 'ironcurtain-mux doctor'")
}

func approve(conn net.Conn, check func(report []byte) error) error {
	report, err := link.ReadMessage(conn)
	switch {
	case err != nil:
		return fmt.Errorf("the container has ended before it reported: %w", err)
	case report.Kind != link.Seen:
		return errors.New("the container sent something else before its report")
	}
	if err := check(report.Data); err != nil {
		return err
	}
	return link.WriteMessage(conn, link.Message{Kind: link.Go, Data: link.GoData(0, 0, 0)})
}
