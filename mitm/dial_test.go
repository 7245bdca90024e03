package mitm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestSilentAddress has a server of two addresses, of which the first, as those of
// IPv6 are on many a machine, is never heard of.
func TestSilentAddress(t *testing.T) {
	silent, heard := netip.MustParseAddr("2600::1"), netip.MustParseAddr("192.0.2.1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	here, there := net.Pipe()
	defer there.Close()
	c, err := dialFirst(ctx, []netip.Addr{silent, heard}, func(ctx context.Context, a netip.Addr) (net.Conn, error) {
		if a == heard {
			return here, ctx.Err()
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil || c != here {
		t.Errorf("%v %v", c, err)
	}
	_ = here.Close()
	_, err = dialFirst(ctx, []netip.Addr{silent}, func(context.Context, netip.Addr) (net.Conn, error) { return nil, net.ErrClosed })
	if !errors.Is(err, net.ErrClosed) {
		t.Errorf("the failure is %v", err)
	}
}
