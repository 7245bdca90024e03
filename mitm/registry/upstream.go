package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// upstream asks registries. It writes every request itself: no field comes from an agent.
type upstream struct {
	p       *Plane
	public  *http.Transport // connects to public addresses only
	private *http.Transport

	mu    sync.Mutex
	slots map[string]chan struct{} // by authority
}

// userAgent replaces that of every client, because theirs tell a lot about this machine.
const userAgent = "ironcurtain-mux"

const maxRedirects = 5

func newUpstream(p *Plane) *upstream {
	u := &upstream{p: p, slots: make(map[string]chan struct{})}
	u.public, u.private = u.transport(false), u.transport(true)
	return u
}

func (u *upstream) transport(private bool) *http.Transport {
	dialer := u.p.config.Dialer
	return &http.Transport{
		Proxy: nil, // through the person's proxy the agent could reach private addresses
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
			defer cancel()
			return dialer.DialHost(ctx, address, private)
		},
		TLSClientConfig:       &tls.Config{RootCAs: u.p.config.UpstreamCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: u.p.limits.Stall,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   u.p.limits.HostRequests,
		DisableCompression:    true, // get decodes, within bounds
		ForceAttemptHTTP2:     true,
	}
}

func (u *upstream) close() {
	u.public.CloseIdleConnections()
	u.private.CloseIdleConnections()
}

// query is one request to a registry.
type query struct {
	origin  *Origin
	address *url.URL // as agents know it
	accept  string
	etag    string // of a stored answer; empty for none
	coded   bool   // the answer may be compressed
	method  string // empty means GET
	body    []byte // JSON
}

// get sends a request and follows redirects if it has no body. Its errors are *Refusal, except the end of ctx.
func (u *upstream) get(ctx context.Context, q query) (*reply, error) {
	address := u.move(q.address)
	private, secure := address != q.address || u.mayBePrivate(q.origin, address), q.address.Scheme == "https"
	for range maxRedirects {
		res, err := u.once(ctx, &q, address, private)
		if err != nil {
			return nil, err
		}
		location := res.Header.Get("Location")
		if res.StatusCode < 300 || res.StatusCode > 399 || location == "" || res.StatusCode == http.StatusNotModified || q.body != nil {
			return u.reply(res, q.coded)
		}
		_ = res.Body.Close()
		next, err := address.Parse(location)
		if err != nil || next.User != nil || next.Host == "" || next.Scheme != "https" && next.Scheme != address.Scheme {
			return nil, Refuse(502, ReasonUpstream, "the registry %s redirects to an address that cannot be followed", q.origin.URL.Host)
		}
		moved := u.move(next)
		if secure && next.Scheme != "https" && Authority(moved) != Authority(address) {
			return nil, Refuse(403, ReasonUpstream, "the registry %s redirects from https to http, where others could read and change what is sent", q.origin.URL.Host)
		}
		secure = secure || next.Scheme == "https"
		private = moved != next && !u.others(q.origin, next) || private && Authority(moved) == Authority(address) || u.mayBePrivate(q.origin, moved)
		address = moved
	}
	return nil, Refuse(502, ReasonUpstream, "the registry %s redirects too often", q.origin.URL.Host)
}

// move returns the address to ask: below the base that the person has configured for the
// address's host, if there is one.
func (u *upstream) move(address *url.URL) *url.URL {
	base := u.p.config.Upstreams[address.Host]
	if base == nil {
		base = u.p.config.Upstreams[address.Hostname()]
	}
	if base == nil {
		return address
	}
	moved := *address
	moved.Scheme, moved.Host = base.Scheme, base.Host
	moved.Path = strings.TrimRight(base.Path, "/") + address.Path
	moved.RawPath = ""
	if address.RawPath != "" {
		moved.RawPath = strings.TrimRight(base.EscapedPath(), "/") + address.RawPath
	}
	return &moved
}

// mayBePrivate reports whether an address that was not moved may be in the person's network: it is
// at a host of this origin, if that is private, or at one to which the person has moved a base of
// this origin. A redirect must not lead to where other origins were moved.
func (u *upstream) mayBePrivate(o *Origin, address *url.URL) bool {
	for _, base := range o.Bases() {
		moved := u.move(base)
		if (o.Private || moved != base) && Authority(moved) == Authority(address) {
			return true
		}
	}
	return false
}

// others reports whether an address is at a host of other origins only.
func (u *upstream) others(o *Origin, address *url.URL) bool {
	at := func(o *Origin) bool {
		return slices.ContainsFunc(o.Bases(), func(b *url.URL) bool { return Authority(b) == Authority(address) })
	}
	return !at(o) && slices.ContainsFunc(u.p.config.Origins, at)
}

// once sends one request. Only if private is set may it reach the person's network.
func (u *upstream) once(ctx context.Context, q *query, address *url.URL, private bool) (*http.Response, error) {
	free, err := u.slot(ctx, Authority(address))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	res, err := u.send(ctx, q, address, private)
	if err != nil {
		ended := ctx.Err()
		cancel()
		free()
		if ended != nil {
			return nil, fmt.Errorf("ask the registry: %w", ended)
		}
		return nil, u.failed(q, err)
	}
	res.Body = newBounded(res.Body, u.p.limits.Stall, func() { cancel(); free() })
	return res, nil
}

func (u *upstream) send(ctx context.Context, q *query, address *url.URL, private bool) (*http.Response, error) {
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(string(q.body)))
	if err != nil {
		return nil, err
	}
	req.Host = q.address.Host // also for a configured upstream, because some registries write it into their documents
	if address.Host != u.move(q.address).Host {
		req.Host = "" // a redirect has led elsewhere
	}
	req.Header = http.Header{"User-Agent": {userAgent}, "Accept": {"*/*"}, "Accept-Encoding": {"identity"}}
	if q.accept != "" {
		req.Header.Set("Accept", q.accept)
	}
	if q.coded {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if q.etag != "" {
		req.Header.Set("If-None-Match", q.etag)
	}
	if len(q.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.origin.Credential != "" && Authority(address) == Authority(u.move(q.origin.URL)) {
		req.Header.Set("Authorization", q.origin.Credential)
	}
	transport := u.public
	if private {
		transport = u.private
	}
	return transport.RoundTrip(req)
}

// failed explains to the agent why a registry gave no answer.
func (u *upstream) failed(q *query, err error) error {
	var refused *netguard.AddressError
	host := q.origin.URL.Host
	switch {
	case !errors.As(err, &refused):
	case refused.Private():
		return Refuse(403, ReasonUpstream, `the registry %s is not at a public address: if %s is the person's own mirror, they set "private": true for this source in registries.sources of config.json`, host, refused.Host)
	default:
		return Refuse(403, ReasonUpstream, "the registry %s is at an address that is never allowed; the person can name a mirror of it in registries.sources of config.json", host)
	}
	u.p.log.Warn("a registry cannot be reached", "host", host, "error", err)
	return away("the registry %s cannot be reached: %s", host, withoutAddress(err))
}

// withoutAddress returns the cause of a network error without addresses of the person's network,
// which its text contains.
func withoutAddress(err error) string {
	var name *net.DNSError
	var connection *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &name):
		return "its name cannot be looked up"
	case errors.As(err, &connection):
		return connection.Op + ": " + connection.Err.Error()
	case errors.As(err, &request):
		return request.Err.Error() // the address is named already
	}
	return err.Error()
}

// away refuses because the registry gave no answer of its own.
func away(format string, args ...any) *Refusal {
	r := Refuse(502, ReasonUpstream, format, args...)
	r.away = true
	return r
}

// slot waits until fewer than Limits.HostRequests are under way to an authority.
func (u *upstream) slot(ctx context.Context, authority string) (free func(), err error) {
	u.mu.Lock()
	slots := u.slots[authority]
	if slots == nil {
		slots = make(chan struct{}, u.p.limits.HostRequests)
		u.slots[authority] = slots
	}
	u.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return sync.OnceFunc(func() { <-slots }), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the registry: %w", ctx.Err())
	}
}
