package mitm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// keptTime is how long an idle connection is kept.
const keptTime = 90 * time.Second

// upstream is an HTTP/1.1 client for the server that gets a host's requests. Each
// connection carries one request at a time, so that a stalled answer never delays
// another. It ignores the environment's proxy variables, does not follow redirects and
// decodes nothing.
type upstream struct {
	dial   func(ctx context.Context) (net.Conn, error)
	config *tls.Config // nil for plain HTTP
	limits *Limits

	mu     sync.Mutex
	kept   []*upstreamConn // idle connections; the one used last is at the end
	sweep  *time.Timer     // closes those that were idle for keptTime
	closed bool
}

// upstreamFor makes the client for one host's upstream. If a person has configured
// another server for the host (moved), that server may be in a private network.
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

// ask sends a request, reads the head of its answer and returns the answer, which must be
// closed. When ctx ends, the connection is closed.
//
// If a kept connection turns out to be closed by the server, ask repeats the request on
// another one: if none of the request was sent, or if there was no answer to a GET or
// HEAD.
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
		u.closeKept() // the server has probably closed the others as well
	}
}

// take returns a kept connection on which the server has sent nothing, or a new one.
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
		if c.idle() {
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

// keep stores a connection that can carry another request.
func (u *upstream) keep(c *upstreamConn) {
	c.makeIdle()
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

// closeOld closes the connections that were idle for keptTime.
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

// close closes the idle connections. Connections with a request are closed after it.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.closeKept()
}

// UpstreamTLS returns the TLS configuration for connecting to the server at, which gets
// the requests for the host name. The server's certificate may be for either of the two.
func UpstreamTLS(roots *x509.CertPool, at, name string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, NextProtos: []string{"http/1.1"}}
	if at != name {
		verifyMoved(config, roots, at, name)
	}
	return config
}

// verifyMoved accepts a certificate for the host of a configured base URL or for the host
// that it replaces. A server with an IP address can only have the latter. The chain is
// verified here instead of by crypto/tls.
func verifyMoved(c *tls.Config, roots *x509.CertPool, names ...string) {
	if net.ParseIP(names[0]) != nil {
		c.ServerName = names[1] // an address cannot be a server name
	}
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the upstream has no certificate")
		}
		intermediates := x509.NewCertPool()
		for _, cert := range s.PeerCertificates[1:] {
			intermediates.AddCert(cert)
		}
		var failures []error
		for _, name := range names {
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: intermediates})
			if err == nil {
				return nil
			}
			failures = append(failures, err)
		}
		return failures[0]
	}
}
