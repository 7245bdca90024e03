package urlx

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Host brings a host to its canonical form: lower case ASCII without a
// trailing dot, or the shortest spelling of an IP address. It refuses spellings
// that only some readers accept as an IP address.
func Host(host string, bracketed bool) (string, netip.Addr, error) {
	var none netip.Addr
	if bracketed || strings.Contains(host, ":") {
		return address6(host)
	}
	if !utf8.ValidString(host) {
		return "", none, refuse("the host is not UTF-8")
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err == nil && !isASCII(host) {
		// Other readers must decode the result to the name that was judged.
		ascii, err = idna.Lookup.ToASCII(ascii)
	}
	if err != nil {
		if !isASCII(host) || !hostBytes(host) || encoded(host) {
			return "", none, refuse("the host is not a valid name")
		}
		// The lookup profile refuses some names that nevertheless resolve,
		// such as names with an underscore. Here they are plain ASCII.
		ascii = strings.ToLower(strings.TrimSuffix(host, "."))
	}
	if err := checkName(ascii); err != nil {
		return "", none, err
	}
	if !numericLabel(ascii[strings.LastIndexByte(ascii, '.')+1:]) {
		return ascii, none, nil
	}
	ip, err := netip.ParseAddr(ascii)
	if err != nil || !isASCII(host) {
		return "", none, refuse("the host is an address in an ambiguous form")
	}
	return ip.String(), ip, nil
}

func address6(host string) (string, netip.Addr, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" || !ip.Is6() {
		return "", netip.Addr{}, refuse("the host is a malformed address")
	}
	ip = ip.Unmap()
	return ip.String(), ip, nil
}

func checkName(name string) error {
	if name == "" || len(name) > 253 {
		return refuse("the host is empty or too long")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return refuse("the host has an empty or an overlong label")
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return refuse("a label of the host begins or ends with a hyphen")
		}
		if !hostBytes(label) {
			return refuse("the host contains a character that host names cannot have")
		}
	}
	return nil
}

// numericLabel reports whether some readers treat a host with this last label
// as an IPv4 address: the label is all digits, or 0x and hexadecimal digits.
func numericLabel(label string) bool {
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// encoded reports whether a label claims to be an encoded Unicode name.
func encoded(host string) bool {
	host = strings.ToLower(host)
	return strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--")
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func hostBytes(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			continue
		}
		return false
	}
	return true
}
