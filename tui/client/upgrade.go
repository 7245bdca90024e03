package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Upgrade makes the daemon become the program that is now at its path, and returns a message for
// the person. The daemon waits at most so long for work that is under way; with now, it interrupts
// the work.
func Upgrade(ctx context.Context, o Options, wait time.Duration, now bool) (end string, err error) {
	conn, was, err := wire.Dial(ctx, o.Socket, o.hello(wire.ForView))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.Send(wire.KindUpgrade, wire.Upgrade{Wait: wait, Now: now}); err != nil {
		return "", fmt.Errorf("reach the daemon: %w", err)
	}
	c := &client{conn: conn, o: o}
	_, err = c.serve(ctx)
	if moved := (*movedError)(nil); errors.As(err, &moved) {
		_, err = c.serve(ctx) // the connection ends when the new program starts
	}
	if !errors.Is(err, ErrLost) {
		return "", err
	}
	again, is, err := wire.Dial(ctx, o.Socket, o.hello(wire.ForView))
	if err != nil {
		return "", fault.New("'ironcurtain-mux' starts the daemon again and takes the agents back", "the new program has ended: %w", err)
	}
	defer again.Close()
	return fmt.Sprintf("the daemon was %s and is now %s; its agents keep running", was.Version, is.Version), nil
}
