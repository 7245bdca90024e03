package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ErrUnseen means that nothing has come from the container by the mounted sockets: they do not
// lead there.
var ErrUnseen = errors.New("the mounted sockets do not lead from the container to this machine")

// seenPatience is how long the bridge may take, after the container has started, to report by a
// mounted socket.
const seenPatience = 3 * time.Second

// Approve accepts the report of a bridge that was started with mounted sockets, has check judge it,
// and then says go. It fails with ErrUnseen when no report comes.
func Approve(ctx context.Context, l net.Listener, check func(report []byte) error) error {
	const op = "reach the container"
	ctx, cancel := context.WithTimeoutCause(ctx, seenPatience, ErrUnseen)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer l.Close()
	conn, err := l.Accept()
	if err == nil {
		defer conn.Close()
		deadline, _ := ctx.Deadline()
		_ = conn.SetDeadline(deadline)
		err = approve(conn, check)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fault.Wrap(op, err, "")
}

func approve(conn net.Conn, check func(report []byte) error) error {
	report, err := link.ReadMessage(conn)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnseen, err)
	case report.Kind != link.Seen:
		return errors.New("the container does not begin with what it sees")
	}
	if err := check(report.Data); err != nil {
		return err
	}
	return link.WriteMessage(conn, link.Message{Kind: link.Go, Data: link.GoData(0, 0, 0)})
}
