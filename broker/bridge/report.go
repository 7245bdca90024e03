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

// goAhead is how long the host may take to judge a report.
const goAhead = 30 * time.Second

// Report tells the host, on a mounted socket, what is seen of the container, and returns when the
// host says that the agent may start. Nothing of the agent may run before.
func Report(ctx context.Context, socket string, look func() (seen.Seen, error)) error {
	const op = "say what is seen of the container"
	s, err := look()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	data, err := s.Bytes()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	dialer := net.Dialer{Timeout: goAhead}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf(op+": the host's sockets do not lead here: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(goAhead))
	if err := link.WriteMessage(conn, link.Message{Kind: link.Seen, Data: data}); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	m, err := link.ReadMessage(conn)
	if err == nil && m.Kind != link.Go {
		err = errors.New("the host says something else than go")
	}
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	return nil
}
