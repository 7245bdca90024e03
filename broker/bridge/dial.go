package bridge

import (
	"context"
	"fmt"
	"net"
	"time"
)

// The first and the longest pause between two attempts to reach the host.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// dial connects to a socket of the host. While nobody listens there it tries
// again, until ctx ends.
func dial(ctx context.Context, socket string) (*net.UnixConn, error) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn.(*net.UnixConn), nil
		}
		if wait(ctx, pause); ctx.Err() != nil {
			return nil, fmt.Errorf("reach the host at %s: %w", socket, err)
		}
	}
}

// wait returns after some time, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
