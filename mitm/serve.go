package mitm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Serve accepts connections until Close, then returns nil. It closes l.
func (p *Proxy) Serve(l net.Listener) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return l.Close() // Close was called first, which is not an error
	}
	p.listeners[l] = true
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	defer func() {
		p.mu.Lock()
		delete(p.listeners, l)
		p.mu.Unlock()
		_ = l.Close()
	}()
	failed := func(err error, pause time.Duration) {
		p.log.Warn("accept", "error", err, "pause", pause)
		p.tell(Activity{Kind: AcceptFailed, Text: err.Error()})
	}
	for {
		c, err := accept.Next(p.ctx, l, failed)
		switch {
		case p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) && p.isClosed():
			if err == nil {
				_ = c.Close()
			}
			return nil
		case err != nil:
			return fmt.Errorf("accept: %w", err)
		}
		p.adopt(c)
	}
}

func (p *Proxy) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// adopt starts serving a connection. If there are too many, it refuses on the accepting
// goroutine, so that further connections wait in the listener's queue.
func (p *Proxy) adopt(c net.Conn) {
	a := newAgentConn(p, c)
	select {
	case p.slots <- struct{}{}:
	default:
		a.refuseOuter(&head{}, deny(503, ReasonConnections, "Too many connections are open."), time.Second)
		a.close()
		return
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		<-p.slots
		a.close()
		return
	}
	p.open[a] = true
	p.wg.Add(1)
	p.mu.Unlock()
	go func() {
		defer p.wg.Done()
		defer p.forget(a)
		a.serve()
	}()
}

func (p *Proxy) forget(a *agentConn) {
	a.close()
	p.mu.Lock()
	delete(p.open, a)
	p.mu.Unlock()
	<-p.slots
}

// Close stops accepting, waits for requests under way for Limits.ShutdownRequest, and
// closes all connections. When it returns nil, no goroutine and no descriptor of the
// proxy is left.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for l := range p.listeners {
		_ = l.Close()
	}
	for a := range p.open {
		a.closeWhenIdle()
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.wg.Wait()
		close(done)
	}()
	grace := time.NewTimer(p.limits.ShutdownRequest)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	case <-ctx.Done():
	}
	p.cancel()
	p.mu.Lock()
	for a := range p.open {
		a.close()
	}
	p.mu.Unlock()
	defer func() {
		for _, g := range p.hosts {
			g.upstream.close()
		}
		p.closeDomains()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		select {
		case <-done:
			return nil
		default:
			return fmt.Errorf("close the proxy: %w", ctx.Err())
		}
	}
}
