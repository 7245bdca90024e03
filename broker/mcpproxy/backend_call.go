package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// DownError means that a call's server is not running.
type DownError struct {
	Server string
	Err    error
}

func (e *DownError) Error() string {
	return fmt.Sprintf("server %s is not running: %v", e.Server, e.Err)
}

func (e *DownError) Unwrap() error { return e.Err }

// running returns the connection to a running server.
func (b *backend) running() (*serverConn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn == nil {
		return nil, &DownError{Server: b.spec.Name, Err: errors.New("it ended and is being started again")}
	}
	return b.conn, nil
}

// sandboxed reports whether the running server is in a sandbox.
func (b *backend) sandboxed() bool {
	sc, err := b.running()
	return err == nil && sc.peer.Sandboxed()
}

// call forwards one call and waits for its result. While the server works on the call, its
// MCP roots include the paths that the call names.
func (b *backend) call(ctx context.Context, c *call) (reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.proxy.limits.Call, b.late)
	defer cancel()
	more, share := b.missing(pathsOf(c.needs)), int64(1)
	if len(more) > 0 {
		share = b.atOnce
	}
	waited, err := b.slots.take(ctx, share, b.unblock)
	if err != nil {
		return reply{}, err
	}
	var givenUp *givenUpError
	defer func() {
		keep := int64(0)
		if givenUp != nil {
			keep = 1
		}
		b.slots.give(share, keep)
	}()
	if waited {
		b.untilUp(ctx)
	}
	sc, err := b.running()
	if err != nil {
		return reply{}, err
	}
	if len(more) > 0 {
		confirm := b.offers(introspection)
		defer sc.narrow(more, confirm)
		sc.widen(ctx, more, confirm)
	}
	got, err := sc.call(ctx, c, c.web(b), func() { b.slots.free.Release(1) })
	if errors.As(err, &givenUp) {
		return reply{}, givenUp
	}
	if errors.Is(err, errServerGone) {
		return reply{}, &DownError{Server: b.spec.Name, Err: err}
	}
	return got, err
}

// unblock stops a server that works only on calls that were given up, while another call waits for
// it. The server is then started again.
func (b *backend) unblock() {
	if sc := b.down(); sc != nil {
		sc.peer.Stop()
	}
}

// untilUp waits for a server that is being started again.
func (b *backend) untilUp(ctx context.Context) {
	b.mu.Lock()
	up := b.up
	b.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
	}
}

// missing returns the directories that must be added to the server's roots for these paths.
// A server that never asked for roots needs none.
func (b *backend) missing(paths []string) []string {
	if len(b.open) == 0 || len(paths) == 0 {
		return nil
	}
	if sc, err := b.running(); err != nil || !sc.roots.wanted() {
		return nil
	}
	return beyond(paths, b.open)
}

// offers reports whether the server has a tool.
func (b *backend) offers(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.tools, func(t tool) bool { return t.Name == name })
}
