package mitm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// healthTarget is answered by the proxy itself, so that a container can check that
	// its bridge to the proxy works.
	healthTarget = "http://ironcurtain.invalid/__ironcurtain/health"
	healthBody   = "IRONCURTAIN_OK/1"
	// refusalTime is how long writing an answer outside a tunnel may take.
	refusalTime = 5 * time.Second
)

// outer serves the request outside TLS. It returns the host of an accepted CONNECT, or nil
// if it has answered the request itself.
func (a *agentConn) outer() *guarded {
	h, err := a.readHeadFrom(a.raw, a.r, a.p.limits.HeadTime)
	if errors.Is(err, errQuiet) {
		return nil
	}
	if h == nil {
		h = &head{}
	}
	if err != nil {
		a.refuseOuter(h, headDenial(err), refusalTime)
		return nil
	}
	f, d := frame(h)
	if d != nil {
		a.refuseOuter(h, d, refusalTime)
		return nil
	}
	if h.method != http.MethodConnect {
		a.plain(h, f)
		return nil
	}
	g, d := a.p.admit(h, f)
	if d != nil {
		a.refuseOuter(h, d, refusalTime)
		return nil
	}
	_ = a.raw.SetWriteDeadline(time.Now().Add(a.p.limits.HandshakeTime))
	if _, err := io.WriteString(a.raw, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return nil
	}
	return g
}

// admit decides a CONNECT. No part of the CONNECT is forwarded, so it may be HTTP/1.0,
// which Python used up to 3.11, and may have unknown fields, because some clients send
// the fields of every request.
func (p *Proxy) admit(h *head, f framing) (*guarded, *denial) {
	if f.hasBody() {
		return nil, deny(400, ReasonConnectBody, "CONNECT must not have a body")
	}
	if f.upgrades {
		return nil, deny(400, ReasonUpgrade, "CONNECT cannot change to another protocol")
	}
	if f.expect {
		return nil, deny(417, ReasonExpect, "CONNECT must not have a body, so the field Expect is not accepted")
	}
	host, port, d := parseConnectTarget(h.target)
	if d != nil {
		return nil, d
	}
	if named, n := h.first("host"); n == 1 {
		if named = strings.TrimSuffix(lowerASCII(named), ":"+port); named != host {
			return nil, deny(400, ReasonHostMismatch, "the Host field and the target of CONNECT differ")
		}
	}
	for _, scheme := range []string{"https://", "http://"} { // yarn 4 asks for a tunnel to either
		if g := p.registries[scheme+host+":"+port]; g != nil {
			return g, nil
		}
	}
	g := p.hosts[host]
	if g == nil {
		g = p.domain(host)
	}
	if g == nil {
		return nil, deny(403, ReasonConnectHost, "Blocked: %s is not an allowed host. This sandbox reaches only the provider of its model; use the tools of the ironcurtain MCP server for everything else.", host)
	}
	if port != "443" {
		return nil, deny(403, ReasonPort, "Blocked: %s may be reached on port 443 only.", host)
	}
	return g, nil
}

// plain answers a request that is not a CONNECT.
func (a *agentConn) plain(h *head, f framing) {
	switch {
	case h.method == http.MethodGet && h.target == healthTarget && !f.hasBody():
		_ = a.raw.SetWriteDeadline(time.Now().Add(refusalTime))
		_, _ = fmt.Fprintf(a.raw, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(healthBody), healthBody)
	case strings.HasPrefix(h.target, "/"):
		a.refuseOuter(h, deny(405, ReasonOriginForm, "Method Not Allowed: this is a proxy, use CONNECT."), refusalTime)
	case a.p.plainRegistry(h.target) != nil:
		a.plainPackages(h)
	case f.upgrades:
		a.refuseOuter(h, deny(403, ReasonUpgrade, "Forbidden: no protocol but HTTPS is forwarded."), refusalTime)
	case strings.Contains(h.target, "://"):
		a.refuseOuter(h, deny(403, ReasonPlainHTTP, "Forbidden: plain HTTP is not forwarded, use https."), refusalTime)
	default:
		a.refuseOuter(h, deny(400, ReasonTarget, "the request-target is neither a URL nor a path"), refusalTime)
	}
}

// refuseOuter records a refusal outside TLS, then answers in plain text, which
// clients show to the person. limit is how long writing the answer may take.
func (a *agentConn) refuseOuter(h *head, d *denial, limit time.Duration) {
	rec := Record{
		Seq: a.p.seq.Add(1), Conn: a.id, Phase: PhaseConnect,
		Decision: d.decision(), Reason: d.reason, Detail: d.detailText(), Status: d.status, Method: h.method,
	}
	if h.method == http.MethodConnect {
		if host, port, bad := parseConnectTarget(h.target); bad == nil {
			rec.Host, rec.Port = host, port
		}
	}
	_ = a.audit(&rec, nil)
	if d.status == 0 {
		return
	}
	body := d.message + "\n"
	_ = a.raw.SetWriteDeadline(time.Now().Add(limit))
	_, _ = fmt.Fprintf(a.raw, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nX-Ironcurtain-Denied: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		d.status, statusLine(d.status), d.reason, len(body), body)
}
