package netguard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// maxHead is how long the head of a service's answer may be, in bytes.
const maxHead = 64 << 10

// Service checks the address of a web service. Its scheme is https; it may be http for a
// service on this machine, named "localhost" or by its address.
func Service(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("the address is not complete; write it like https://example.com/mcp")
	case u.User != nil:
		return nil, errors.New("the address contains a login")
	case u.Fragment != "":
		return nil, errors.New("the address has a part after #")
	case u.Scheme != "https" && (u.Scheme != "http" || !OnThisMachine(u.Hostname())):
		return nil, errors.New("the address must use https, or http on this machine")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if why := Refuse(a, true); why != "" {
			return nil, &AddressError{Host: u.Hostname(), Addr: a, Why: why}
		}
	}
	return u, nil
}

// OnThisMachine reports whether a host is "localhost" or a loopback address.
func OnThisMachine(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Client returns an HTTP client for such services. It checks certificates and every address
// of a name, follows no redirect, uses no proxy and keeps no cookies. private reports
// whether a host may be on this machine or in the person's network.
func (d Dialer) Client(private func(host string) bool) *http.Client {
	dial := func(ctx context.Context, _, to string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(to)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		return d.DialHost(ctx, to, private(host))
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: 30 * time.Second,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHead, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
