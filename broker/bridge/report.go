package bridge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// goWait is how long the host may take to judge a report.
const goWait = 30 * time.Second

// Report sends the report to the host on a mounted socket, and returns when the host sends go.
// Nothing of the agent may run before.
func Report(ctx context.Context, socket string, look func() (seen.Seen, error)) error {
	const op = "report on the container"
	s, err := look()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	data, err := s.Bytes()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	dialer := net.Dialer{Timeout: goWait}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf(op+": the host's sockets do not work here: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(goWait))
	if err := link.WriteMessage(conn, link.Message{Kind: link.Seen, Data: data}); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	m, err := link.ReadMessage(conn)
	if err == nil && m.Kind != link.Go {
		err = errors.New("the host sent something other than go")
	}
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	return nil
}
