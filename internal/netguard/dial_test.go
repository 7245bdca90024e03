package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestSilentAddress has a server of two addresses, of which the first, as those of
// IPv6 are on many a machine, never answers.
func TestSilentAddress(t *testing.T) {
	silent, answering := netip.MustParseAddr("2600::1"), netip.MustParseAddr("93.184.216.34")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	here, there := net.Pipe()
	defer there.Close()
	defer here.Close()
	d := Dialer{Connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		if to == netip.AddrPortFrom(answering, 443) {
			return here, ctx.Err()
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if c, err := d.Dial(ctx, []netip.Addr{silent, answering}, 443); err != nil || c != here {
		t.Errorf("%v %v", c, err)
	}
	d.Connect = func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, net.ErrClosed }
	if _, err := d.Dial(ctx, []netip.Addr{silent}, 443); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the failure is %v", err)
	}
}

func TestAddressesAreAllChecked(t *testing.T) {
	d := Dialer{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "half.example":
			return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
		case "empty.example":
			return nil, nil
		}
		return nil, errors.New("no such host")
	}}
	for _, c := range []struct {
		host    string
		private bool
		found   int
	}{
		{"half.example", false, 0},
		{"half.example", true, 2},
		{"empty.example", true, 0},
		{"gone.example", true, 0},
		{"93.184.216.34", false, 1},
		{"::1", false, 0},
		{"127.0.0.1", true, 1},
		{"169.254.169.254", true, 0},
	} {
		t.Run(c.host, func(t *testing.T) {
			if got, err := d.Addresses(t.Context(), c.host, c.private); len(got) != c.found || (err == nil) != (c.found > 0) {
				t.Errorf("private %v: %v, %v", c.private, got, err)
			}
		})
	}
	var refused *AddressError
	if _, err := d.Addresses(t.Context(), "half.example", false); !errors.As(err, &refused) || refused.Host != "half.example" {
		t.Errorf("the failure is %v", err)
	}
}
