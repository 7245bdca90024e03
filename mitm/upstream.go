package mitm

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/nonblock"
)

// keptTime is how long a connection without a request is kept.
const keptTime = 90 * time.Second

// upstream is the way to the server that takes a host's requests: HTTP/1.1 over
// connections that carry one request after the other, so that one stalled answer
// never holds another. It obeys no proxy variables of the environment, follows
// nothing and decodes nothing.
type upstream struct {
	dial   func(ctx context.Context) (net.Conn, error)
	config *tls.Config // nil for plain HTTP
	limits *Limits
	soon   nonblock.Linger // for answers

	mu     sync.Mutex
	kept   []*upstreamConn // without a request; the one used last stands at the end
	sweep  *time.Timer     // closes those that nobody used for keptTime
	closed bool
}

// upstreamFor is the way to one host's upstream. Where a person has named another
// server for a host (moved), that server may be in their own network.
func (p *Proxy) upstreamFor(g *guarded) (*upstream, error) {
	return newUpstream(g, UpstreamTLS(p.config.UpstreamCAs, g.base.Hostname(), g.host.Name), &p.limits)
}

func newUpstream(g *guarded, config *tls.Config, limits *Limits) (*upstream, error) {
	port, err := portOf(g.base)
	if err != nil {
		return nil, err
	}
	if g.base.Scheme == "http" {
		config = nil
	} else if config.ServerName == "" {
		config.ServerName = g.base.Hostname()
	}
	host, private := g.base.Hostname(), g.moved
	return &upstream{config: config, limits: limits, dial: func(ctx context.Context) (net.Conn, error) {
		var d netguard.Dialer
		addrs, err := d.Addresses(ctx, host, private)
		if err != nil {
			return nil, err
		}
		return d.Dial(ctx, addrs, port)
	}}, nil
}

// ask sends a request and returns its answer, of which the head was read. The
// answer must be closed. Its connection ends with ctx.
//
// A kept connection that the server has left meanwhile is replaced: when nothing
// of the request could be sent, or when it got no answer and only reads.
func (u *upstream) ask(ctx context.Context, q *upstreamRequest) (*upstreamAnswer, error) {
	for {
		c, err := u.take(ctx)
		if err != nil {
			return nil, err
		}
		used := c.used
		a, err := c.ask(ctx, q)
		if err == nil {
			a.u = u
			return a, nil
		}
		lost := c.sent == 0 || c.received == 0 && (q.method == http.MethodGet || q.method == http.MethodHead)
		if !used || !lost || ctx.Err() != nil || isTimeout(err) {
			return nil, err
		}
		u.closeKept() // the others are as old
	}
}

// take returns a kept connection on which the server has sent nothing, or a new
// one.
func (u *upstream) take(ctx context.Context) (*upstreamConn, error) {
	for {
		u.mu.Lock()
		n := len(u.kept)
		if n == 0 {
			u.mu.Unlock()
			return u.connect(ctx)
		}
		c := u.kept[n-1]
		u.kept[n-1] = nil
		u.kept = u.kept[:n-1]
		u.mu.Unlock()
		if c.quiet() {
			return c, nil
		}
		c.close()
	}
}

func (u *upstream) connect(ctx context.Context) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(ctx, u.limits.ConnectTime)
	defer cancel()
	raw, err := u.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := newUpstreamConn(raw, u.limits)
	if u.config == nil {
		return c, nil
	}
	t := tls.Client(c.raw, u.config)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	c.secure(t)
	return c, nil
}

// keep takes a connection back that can carry another request.
func (u *upstream) keep(c *upstreamConn) {
	c.rest()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || len(u.kept) >= u.limits.Requests {
		c.close()
		return
	}
	u.kept = append(u.kept, c)
	switch {
	case u.sweep == nil:
		u.sweep = time.AfterFunc(keptTime, u.closeOld)
	case len(u.kept) == 1:
		u.sweep.Reset(keptTime)
	}
}

// closeOld closes the connections that nobody has used for keptTime.
func (u *upstream) closeOld() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.kept) > 0 {
		left := keptTime - time.Since(u.kept[0].since)
		if left > 0 {
			u.sweep.Reset(left)
			return
		}
		u.kept[0].close()
		u.kept = u.kept[1:]
	}
}

func (u *upstream) closeKept() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.kept {
		c.close()
	}
	u.kept = nil
	if u.sweep != nil {
		u.sweep.Stop()
	}
}

// close gives back what is kept; connections with a request end after it.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.closeKept()
}
