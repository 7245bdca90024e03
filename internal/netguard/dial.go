// Package netguard decides which addresses the host connects to for an agent, and
// connects to them. Service and Client do so for web services that the person names.
//
// A name is looked up once. When one of its addresses is refused, all are, because a name
// that is partly private is not trusted at all. The connection is made to an address that
// was checked, and not to the name, so a name that changes between the check and the
// connection (DNS rebinding) gains nothing.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// maxTries is how many addresses of one host are tried.
const maxTries = 3

// Dialer looks up names and connects. The zero value uses the system's resolver and TCP.
type Dialer struct {
	// Resolve looks up the addresses of a name.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect makes a connection to an address.
	Connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Addresses returns the addresses of a host, which is a name or an address. It checks all
// of them and returns an *AddressError when one is refused; private is as for Refuse.
func (d Dialer) Addresses(ctx context.Context, host string, private bool) ([]netip.Addr, error) {
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("look up %s: the host has no address", host)
	}
	for _, a := range addrs {
		if why := Refuse(a, private); why != "" {
			return nil, &AddressError{Host: host, Addr: a, Why: why}
		}
	}
	return addrs, nil
}

func (d Dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if d.Resolve != nil {
		return d.Resolve(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Dial connects to the first of the checked addresses that answers. Each gets an equal
// share of the remaining time, so that a silent one leaves time for the others.
func (d Dialer) Dial(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	addrs = addrs[:min(len(addrs), maxTries)]
	var failures []error
	for i, a := range addrs {
		try, cancel := share(ctx, len(addrs)-i)
		conn, err := d.connect(try, netip.AddrPortFrom(a.Unmap(), port))
		cancel()
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// DialHost connects to "host:port": it looks the host up, checks all of its addresses as
// Addresses does, and dials them. If the name says that the host is this machine, its addresses
// must be loopback addresses, because the connection may be unencrypted.
func (d Dialer) DialHost(ctx context.Context, address string, private bool) (net.Conn, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := d.Addresses(ctx, host, private)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if OnThisMachine(host) && !a.Unmap().IsLoopback() {
			return nil, fmt.Errorf("the host %s has the address %s, which is not of this machine", host, a)
		}
	}
	return d.Dial(ctx, addrs, uint16(port))
}

func (d Dialer) connect(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if d.Connect != nil {
		return d.Connect(ctx, to)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", to.String())
}

// share returns a context with one attempt's equal share of the remaining time.
func share(ctx context.Context, attempts int) (context.Context, context.CancelFunc) {
	if end, limited := ctx.Deadline(); limited {
		return context.WithTimeout(ctx, time.Until(end)/time.Duration(attempts))
	}
	return context.WithCancel(ctx)
}
