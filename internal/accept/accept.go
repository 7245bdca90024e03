// Package accept accepts connections from a listener and survives temporary errors, because
// one failed call of accept(2) must end neither a session nor the bridge.
package accept

import (
	"context"
	"errors"
	"net"
	"time"
)

// The shortest and longest pause after an error of accept(2). Each further error doubles
// the pause.
const (
	leastPause = 5 * time.Millisecond
	mostPause  = time.Second
)

// Next returns the next connection. Errors of accept(2) are temporary: the process has no
// free descriptors, or the peer hung up too early. Next passes such an error to failed and
// tries again after a pause. It returns an error only when the listener is closed or ctx
// has ended.
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
