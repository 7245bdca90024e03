// Package accept takes connections from a listener and survives what passes: one
// failed call of accept(2) must end neither a session nor the bridge.
package accept

import (
	"context"
	"errors"
	"net"
	"time"
)

// The pause after an error of accept(2), doubled with each further one.
const (
	leastPause = 5 * time.Millisecond
	mostPause  = time.Second
)

// Next returns the next connection. An error of accept(2) passes: the process has
// no descriptors left, or the peer hung up before it was let in. So it is told to
// failed, and after a pause Next tries again. It gives up only when the listener is
// closed or ctx has ended.
func Next(ctx context.Context, l net.Listener, failed func(err error, pause time.Duration)) (net.Conn, error) {
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		conn, err := l.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		failed(err, pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}
