package netguard

import (
	"net/netip"
	"testing"
)

func TestWhichAddressesAreReached(t *testing.T) {
	for _, c := range []struct {
		addr            string
		public, private bool // reached when the host is not listed as private, and when it is
	}{
		{"93.184.216.34", true, true},
		{"2606:2800:220:1::1", true, true},
		{"160.79.104.10", true, true},
		{"2607:6bc0::10", true, true},
		{"127.0.0.1", false, true},
		{"127.8.8.8", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"10.1.2.3", false, true},
		{"172.16.0.1", false, true},
		{"192.168.1.1", false, true},
		{"100.64.0.1", false, true},
		{"fd12::1", false, true},
		{"::ffff:10.0.0.1", false, true},
		{"169.254.1.1", false, false},
		{"fe80::1", false, false},
		{"fe80::1%eth0", false, false},
		{"169.254.169.254", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"fd00:ec2::254", false, false},
		{"fd00:ec2::23", false, false},
		{"fd20:ce::254", false, false},
		{"fd00:42::42", false, false},
		{"100.100.100.200", false, false},
		{"168.63.129.16", false, false},
		{"169.254.170.2", false, false},
		{"0.0.0.0", false, false},
		{"0.1.2.3", false, false},
		{"::", false, false},
		{"255.255.255.255", false, false},
		{"224.0.0.1", false, false},
		{"ff02::1", false, false},
		{"240.0.0.1", false, false},
		{"198.18.0.1", false, false},
		{"192.0.2.1", false, false},
		{"203.0.113.9", false, false},
		{"192.0.0.1", false, false},
		{"64:ff9b::7f00:1", false, false},
		{"2002:7f00:1::", false, false},
		{"2001::1", false, false},
		{"2001:db8::1", false, false},
		{"fec0::1", false, false},
		{"::7f00:1", false, false},
		{"100::1", false, false},
		{"4000::1", false, false},
		{"2001:10::1", false, false},
		{"fc00::1", false, true},
		{"192.0.0.192", false, false},
	} {
		t.Run(c.addr, func(t *testing.T) {
			a := netip.MustParseAddr(c.addr)
			if got := Refuse(a, false) == ""; got != c.public {
				t.Errorf("%s: reached %v, want %v", c.addr, got, c.public)
			}
			if got := Refuse(a, true) == ""; got != c.private {
				t.Errorf("%s of a private host: reached %v, want %v", c.addr, got, c.private)
			}
		})
	}
	if Refuse(netip.Addr{}, true) == "" {
		t.Error("no address at all was taken for one")
	}
}
