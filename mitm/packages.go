package mitm

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxAuditBytes bounds the body of a request to a registry. Only audits have a body.
const maxAuditBytes = 4 << 20

// guardRegistries adds the hosts of the package registries.
func (p *Proxy) guardRegistries() error {
	for _, authority := range p.config.Registries {
		u, err := url.Parse(authority)
		if err != nil || !validHost(u.Hostname()) || registry.Authority(u) != authority {
			return fmt.Errorf("the registry %s is not at a host name", printable(authority, 100))
		}
		if other := p.hosts[u.Hostname()]; other != nil {
			return fmt.Errorf("the host %s belongs to %s and to a package registry", u.Hostname(), other.provider.Name)
		}
		g := &guarded{host: Host{Name: u.Hostname()}, provider: &Provider{Name: "packages"}, packages: authority}
		g.tls = p.tlsFor(u.Hostname(), p.web)
		p.registries[authority] = g
	}
	return nil
}

// plainRegistry returns the registry that a request-target with scheme http is for, or nil.
func (p *Proxy) plainRegistry(target string) *guarded {
	rest, plain := strings.CutPrefix(target, "http://")
	if !plain {
		return nil
	}
	host, _, _ := strings.Cut(rest, "/")
	host = lowerASCII(host)
	if !strings.Contains(host, ":") {
		host += ":80"
	}
	return p.registries["http://"+host]
}

// plainPackages serves requests outside TLS, as apt sends them: each names its host.
func (a *agentConn) plainPackages(first *head) {
	a.packages(a.p.plainRegistry(first.target), a.raw, a.r, first)
}

// packages serves the requests of one connection to a registry. first has been read already;
// without it the connection is a tunnel, whose requests name no host in their target.
func (a *agentConn) packages(g *guarded, conn net.Conn, r *bufio.Reader, first *head) {
	defer func() { _ = conn.SetWriteDeadline(time.Now().Add(time.Second)) }()
	for h := first; ; h = nil {
		var err error
		if h == nil {
			if h, err = a.readHeadFrom(conn, r, a.p.limits.IdleTime); errors.Is(err, errQuiet) || err != nil && isTimeout(err) {
				return
			}
		}
		if !a.begin() {
			return
		}
		x := &packageExchange{agent: a, g: g, conn: conn, r: r, h: h, absolute: first != nil}
		keep := x.run(err)
		if !a.end() || !keep {
			return
		}
	}
}

// packageExchange is one request to a registry.
type packageExchange struct {
	agent *agentConn
	g     *guarded
	conn  net.Conn
	r     *bufio.Reader
	h     *head

	absolute bool // the target names the registry
	framing  framing
	request  registry.HTTPRequest
	chunked  bool // the body has no length
	begun    bool
}

// run judges the head and lets the registries' session answer. It reports whether the
// connection may carry another request.
func (x *packageExchange) run(headErr error) bool {
	if headErr != nil {
		if x.h == nil {
			x.h = &head{}
		}
		x.deny(headDenial(headErr))
		return false
	}
	if d := x.read(); d != nil {
		x.deny(d)
		return false
	}
	x.agent.watch.start(x.agent, x.conn, x.r)
	err := x.agent.p.config.Packages.Serve(x.agent.ctx, &x.request, x)
	x.agent.watch.stop()
	if err == nil && x.chunked {
		_, err = x.writeRaw([]byte("0\r\n\r\n"))
	}
	if x.framing.closing {
		drain(x.conn, x.r)
	}
	return err == nil && !x.framing.closing
}

// read judges the framing and the target, and reads the body of an audit. Cargo offers an upgrade
// of the protocol when it does not use TLS. The offer is ignored, which is safe because no field of
// the request is forwarded.
func (x *packageExchange) read() *denial {
	if x.h.version != "HTTP/1.1" && !(x.h.version == "HTTP/1.0" && x.h.method == http.MethodGet) {
		return deny(505, ReasonVersion, "the request must be HTTP/1.1")
	}
	var d *denial
	if x.framing, d = frame(x.h); d != nil {
		return d
	}
	target := x.h.target
	if x.absolute {
		if x.agent.p.plainRegistry(target) != x.g {
			return deny(403, ReasonHostMismatch, "the connection belongs to another host")
		}
		_, path, _ := strings.Cut(strings.TrimPrefix(target, "http://"), "/")
		target = "/" + path
	}
	path, query, d := splitTarget(target)
	if d != nil {
		return d
	}
	if !strings.HasPrefix(path, "/") {
		return deny(400, ReasonRawTarget, "the request-target must begin with a slash")
	}
	if host, n := x.h.first("host"); n == 1 && !x.named(host) {
		return deny(400, ReasonHostMismatch, "the Host field and the host of the connection differ")
	}
	x.request = registry.HTTPRequest{Method: x.h.method, Authority: x.g.packages, Path: path, Query: query}
	for name, to := range map[string]*string{"accept": &x.request.Accept, "range": &x.request.Range, "if-none-match": &x.request.IfNoneMatch} {
		*to, _ = x.h.first(name)
	}
	if _, n := x.h.first("if-range"); n > 0 {
		x.request.Range = "" // the whole file is a valid answer to any condition
	}
	return x.readBody()
}

// named reports whether a Host field names the registry.
func (x *packageExchange) named(host string) bool {
	scheme, authority, _ := strings.Cut(x.g.packages, "://")
	if !strings.Contains(host, ":") {
		host += map[string]string{"https": ":443", "http": ":80"}[scheme]
	}
	return lowerASCII(host) == authority
}

// readBody reads a body, which only an audit has.
func (x *packageExchange) readBody() (d *denial) {
	if !x.framing.hasBody() {
		return nil
	}
	if x.h.method != http.MethodPost {
		x.framing.closing = true // the body is not read; the session decides about the request
		return nil
	}
	if x.framing.length > maxAuditBytes {
		return deny(413, ReasonTooLarge, "The body is larger than %d bytes.", maxAuditBytes)
	}
	if x.framing.expect {
		if _, err := x.writeRaw([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return failure(0, ReasonClientGone, "the client went away before its body")
		}
	}
	source := io.LimitReader(x.r, x.framing.length)
	if x.framing.chunked {
		source = &chunkedReader{r: x.r}
	}
	_ = x.conn.SetReadDeadline(time.Now().Add(x.agent.p.limits.BodyStall))
	defer x.agent.unlimited(x.conn)
	body, err := io.ReadAll(io.LimitReader(source, maxAuditBytes+1))
	switch {
	case err != nil:
		return bodyDenial(err)
	case len(body) > maxAuditBytes:
		return deny(413, ReasonTooLarge, "The body is larger than %d bytes.", maxAuditBytes)
	case !x.framing.chunked && int64(len(body)) < x.framing.length:
		return bodyDenial(io.ErrUnexpectedEOF)
	}
	x.request.Body, d = decodeAudit(x.h, body)
	return d
}

// decodeAudit returns the body of an audit, which npm compresses.
func decodeAudit(h *head, body []byte) ([]byte, *denial) {
	for _, f := range h.fields {
		switch {
		case f.name != "content-encoding" || strings.EqualFold(f.value, "identity"):
			continue
		case !strings.EqualFold(f.value, "gzip"):
			return nil, deny(415, ReasonEncoding, "The only content coding of a body is gzip.")
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, deny(400, ReasonEncoding, "The body is not compressed as it says.")
		}
		body, err = io.ReadAll(io.LimitReader(unpacked, maxAuditBytes+1))
		switch {
		case err != nil:
			return nil, deny(400, ReasonEncoding, "The body is not compressed as it says.")
		case len(body) > maxAuditBytes:
			return nil, deny(413, ReasonTooLarge, "The body is larger than %d bytes.", maxAuditBytes)
		}
	}
	return body, nil
}

// deny records a refusal of the request's form and answers in plain text.
func (x *packageExchange) deny(d *denial) {
	rec := Record{
		Seq: x.agent.p.seq.Add(1), Conn: x.agent.id, Phase: PhaseRequest, Decision: d.decision(), Reason: d.reason,
		Detail: printable(d.detailText(), 300), Provider: x.g.provider.Name, Host: x.g.host.Name, Method: x.h.method, Status: d.status,
	}
	_ = x.agent.audit(&rec, nil)
	if d.status == 0 {
		return
	}
	body := d.message + "\n"
	fields := []registry.Field{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}, {Name: "X-Ironcurtain-Denied", Value: string(d.reason)}, {Name: "Connection", Value: "close"}}
	if x.Start(d.status, statusLine(d.status), fields, int64(len(body))) == nil {
		_, _ = x.Write([]byte(body))
	}
	drain(x.conn, x.r)
}

// Start is registry.Answer's.
func (x *packageExchange) Start(status int, phrase string, fields []registry.Field, length int64) error {
	if x.begun {
		return errors.New("the answer has begun already")
	}
	x.begun = true
	head := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", status, printable(phrase, 300))
	for _, f := range fields {
		head = fmt.Appendf(head, "%s: %s\r\n", f.Name, printable(f.Value, 1000))
	}
	switch {
	case status == http.StatusNotModified:
	case length >= 0:
		head = append(strconv.AppendInt(append(head, "Content-Length: "...), length, 10), "\r\n"...)
	default:
		x.chunked = x.h.method != http.MethodHead
		head = append(head, "Transfer-Encoding: chunked\r\n"...)
	}
	if x.framing.closing {
		head = append(head, "Connection: close\r\n"...)
	}
	_, err := x.writeRaw(append(head, "\r\n"...))
	return err
}

// Write is registry.Answer's.
func (x *packageExchange) Write(p []byte) (int, error) {
	if x.h.method == http.MethodHead || len(p) == 0 {
		return len(p), nil
	}
	if !x.chunked {
		return x.writeRaw(p)
	}
	piece := append(strconv.AppendInt(nil, int64(len(p)), 16), "\r\n"...)
	piece = append(append(piece, p...), "\r\n"...)
	if _, err := x.writeRaw(piece); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeRaw writes with a deadline of its own, so that a client that reads nothing ends the
// exchange.
func (x *packageExchange) writeRaw(p []byte) (int, error) {
	_ = x.conn.SetWriteDeadline(time.Now().Add(x.agent.p.limits.WriteStall))
	secure, is := x.conn.(*tls.Conn)
	if !is {
		return x.conn.Write(p)
	}
	raw := secure.NetConn().(*tunnelConn)
	raw.hold() // so that several TLS records go out in one piece
	n, err := secure.Write(p)
	return n, errors.Join(err, raw.flush())
}
