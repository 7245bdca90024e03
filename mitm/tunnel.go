package mitm

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// errServerName refuses a handshake whose server name differs from the host of CONNECT.
var errServerName = errors.New("the server name is not the target of CONNECT")

// tlsFor returns the TLS configuration toward the agent for one host; a signs its
// certificates.
func (p *Proxy) tlsFor(host string, a *authority) *tls.Config {
	return &tls.Config{
		MinVersion:                  tls.VersionTLS12,
		NextProtos:                  []string{"http/1.1"},
		SessionTicketsDisabled:      true,
		DynamicRecordSizingDisabled: true, // an event fits one record anyway, and large answers are faster
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if c, ok := hello.Conn.(*tunnelConn); ok {
				c.sni = hello.ServerName
			}
			if hello.ServerName != "" && lowerASCII(hello.ServerName) != host {
				return nil, errServerName
			}
			return nil, nil // use this configuration
		},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return a.leaf(host)
		},
	}
}

// tunnel answers TLS in the name of the host and serves the requests inside. A registry
// without encryption has none in the tunnel either.
func (a *agentConn) tunnel(g *guarded) {
	if strings.HasPrefix(g.packages, "http://") {
		a.packages(g, a.raw, a.r, nil)
		return
	}
	c := &tunnelConn{Conn: a.raw, r: a.r}
	_ = a.raw.SetDeadline(time.Now().Add(a.p.limits.HandshakeTime))
	first, err := a.r.Peek(1)
	if err != nil {
		a.refuseTLS(g, c, handshakeDenial(err))
		return
	}
	if first[0] != 0x16 { // a TLS record that holds a handshake
		a.refuseTLS(g, c, deny(0, ReasonNotTLS, "the tunnel does not begin with a TLS handshake"))
		return
	}
	t := tls.Server(c, g.tls)
	if err := t.HandshakeContext(a.ctx); err != nil {
		a.refuseTLS(g, c, handshakeDenial(err))
		return
	}
	_ = a.raw.SetDeadline(time.Time{})
	a.readBy, a.writeBy = time.Time{}, time.Time{}
	if g.packages != "" {
		a.packages(g, t, bufio.NewReaderSize(t, 16<<10), nil)
		return
	}
	a.requests(g, c, t)
}

// requests serves one request after the other.
func (a *agentConn) requests(g *guarded, c *tunnelConn, t *tls.Conn) {
	defer func() {
		_ = t.SetWriteDeadline(time.Now().Add(time.Second))
		_ = t.CloseWrite()
	}()
	r := bufio.NewReaderSize(t, 16<<10)
	wait := a.p.limits.HeadTime
	for first := true; ; first = false {
		h, err := a.readHeadFrom(t, r, wait)
		switch {
		case errors.Is(err, errQuiet), err != nil && h == nil && !first && isTimeout(err):
			return // the client closed the connection, or was idle for too long, between two requests
		case err != nil && first && isAlert(err):
			a.refuseTLS(g, c, failure(0, ReasonDistrust, "the client broke off: %s", alertText(err)))
			return
		}
		if !a.begin() {
			return
		}
		x := newExchange(a, g, c.sni, t, r, h)
		keep := x.run(err)
		if !a.end() || !keep {
			return
		}
		wait = a.p.limits.IdleTime
	}
}

// handshakeDenial turns an error of the handshake into a refusal.
func handshakeDenial(err error) *denial {
	switch {
	case errors.Is(err, errServerName):
		return deny(0, ReasonSNI, "%s", errServerName)
	case isTimeout(err):
		return failure(0, ReasonHSTimeout, "the TLS handshake did not finish in time")
	case isEOF(err):
		return failure(0, ReasonHandshake, "the connection ended before the TLS handshake was done")
	case isAlert(err):
		return failure(0, ReasonDistrust, "the client broke off: %s", alertText(err))
	case strings.HasSuffix(err.Error(), "tls: bad record MAC"):
		// OpenSSL sends this alert unencrypted, which TLS 1.3 does not allow.
		return failure(0, ReasonDistrust, "the client broke off without encryption, as OpenSSL does when it does not trust the certificate")
	default:
		return deny(0, ReasonHandshake, "the TLS handshake failed: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
}

// refuseTLS records why a tunnel failed. It writes nothing, because TLS has sent an alert
// to the client.
func (a *agentConn) refuseTLS(g *guarded, c *tunnelConn, d *denial) {
	rec := Record{
		Seq: a.p.seq.Add(1), Conn: a.id, Phase: PhaseTLS, Decision: d.decision(), Reason: d.reason,
		Detail: printable(d.detailText(), 200), Provider: g.provider.Name, Host: g.host.Name, Port: "443", SNI: printable(c.sni, 255),
	}
	_ = a.audit(&rec, nil)
}

// isAlert reports whether the client sent a TLS alert, as clients do that do not trust
// the certificate.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func alertText(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return strings.TrimPrefix(op.Err.Error(), "tls: ")
	}
	return err.Error()
}

func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// drainBytes bounds the bytes that are read and discarded after a refusal.
const drainBytes = 64 << 20

// drain reads and discards what the peer still sends, for at most half a second, so that
// the peer reads the answer before it notices that the connection is closed.
func drain(c net.Conn, r io.Reader) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	_ = c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.CopyN(io.Discard, r, drainBytes)
}

// printable returns the beginning of s in printable ASCII, at most limit bytes.
func printable(s string, limit int) string {
	s = text.ASCII(s[:min(len(s), limit)])
	return s[:min(len(s), limit)]
}
