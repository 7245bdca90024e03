package netguard

import (
	"fmt"
	"net/netip"
	"slices"
)

// special are ranges that netip considers public but where no public server has an address, and
// ranges of addresses that contain another address.
var special = prefixes(
	"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is where public IPv6 addresses lie.
var global = netip.MustParsePrefix("2000::/3")

// shared is a range that providers use inside their networks, like the private ranges.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// metadata are the addresses at which clouds give credentials to any program that runs there.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"),
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("fd00:42::42"),
}

func prefixes(all ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(all))
	for i, s := range all {
		list[i] = netip.MustParsePrefix(s)
	}
	return list
}

// Refuse returns why no connection may be made to an address, or "". With private, the
// address may also be in the person's network or on this machine, because the person has
// named the host.
func Refuse(a netip.Addr, private bool) string {
	a = a.Unmap()
	switch {
	case slices.Contains(metadata, a.WithZone("")):
		return "a metadata service of a cloud"
	case !a.IsValid() || a.IsUnspecified() || a.Zone() != "":
		return "not an address of a host"
	case a.IsMulticast() || a.IsLinkLocalUnicast():
		return "an address of the local link"
	case a.IsLoopback() || a.IsPrivate() || shared.Contains(a):
		if private {
			return ""
		}
		return "a private address"
	case a.Is6() && !global.Contains(a):
		return "not a public address"
	}
	if slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return "not a public address"
	}
	return ""
}

// AddressError is the error for a host with an address that must not be connected to.
type AddressError struct {
	Host string
	Addr netip.Addr
	Why  string // from Refuse
}

// Private reports whether the address would be connected to if the person had named the host
// as private.
func (e *AddressError) Private() bool { return Refuse(e.Addr, true) == "" }

func (e *AddressError) Error() string {
	return fmt.Sprintf("the host %s has the address %s, which is %s", e.Host, e.Addr, e.Why)
}
