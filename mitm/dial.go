package mitm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// errNotPublic refuses an upstream whose name leads to an address that is not
// on the public Internet.
var errNotPublic = errors.New("the address is not public")

// reserved are networks that no provider lives in and that netip does not tell
// apart by itself.
var reserved = func() []netip.Prefix {
	var all []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
		"168.63.129.16/32", // where a cloud keeps what its machines may know
	} {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}()

// assigned is the part of the addresses of IPv6 that is given out at all.
var assigned = netip.MustParsePrefix("2000::/3")

// publicAddress says whether a provider may live at an address.
func publicAddress(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" || a.Is6() && !assigned.Contains(a) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// configurableAddress says whether a person may point a host at an address:
// anywhere but at link-local ones, where clouds keep their credentials.
func configurableAddress(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified()
}

// dialGuarded resolves once, checks every address of the answer, and connects
// to the checked ones only: a name that has one bad address has none.
func dialGuarded(ctx context.Context, network, address string, fit func(netip.Addr) bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if !fit(a) {
			return nil, fmt.Errorf("connect to %s: %s: %w", host, a, errNotPublic)
		}
	}
	return dialFirst(ctx, addresses, func(ctx context.Context, a netip.Addr) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
	})
}

// dialFirst connects to the first address that answers. Each gets an equal share of the
// time that is left, so that one which is silent leaves some to the others.
func dialFirst(ctx context.Context, addresses []netip.Addr, dial func(context.Context, netip.Addr) (net.Conn, error)) (net.Conn, error) {
	var failures []error
	for i, a := range addresses {
		one, cancel := ctx, context.CancelFunc(func() {})
		if end, limited := ctx.Deadline(); limited {
			one, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(len(addresses)-i))
		}
		c, err := dial(one, a)
		cancel()
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// UpstreamTLS is the TLS configuration toward the server at one name that stands
// in for another. Where both are the same, nothing but that name proves it.
func UpstreamTLS(roots *x509.CertPool, at, name string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, NextProtos: []string{"http/1.1"}}
	if at != name {
		verifyMoved(config, roots, at, name)
	}
	return config
}

// verifyMoved lets the server at a configured base URL prove itself as that
// URL's host or as the host that it stands for: a stand-in on an IP address can
// only do the latter. The chain is verified here instead of by crypto/tls.
func verifyMoved(c *tls.Config, roots *x509.CertPool, names ...string) {
	if net.ParseIP(names[0]) != nil {
		c.ServerName = names[1] // there is no server name for an address
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
