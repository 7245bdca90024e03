package urlx

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxURL bounds a URL as it is given and in its canonical form, in bytes.
const maxURL = 8192

// Error is the reason why an address was refused. It does not quote the address.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// URL is an http or https URL with exactly one reading.
type URL struct {
	Scheme string     // "http" or "https"
	Host   string     // lower case ASCII, no trailing dot; an address without brackets
	Port   int        // always set
	IP     netip.Addr // valid when the host is an address
	text   string
}

// String is the canonical spelling.
func (u URL) String() string { return u.text }

// Target is what patterns are matched against.
func (u URL) Target() Target {
	return Target{Scheme: u.Scheme, Host: u.Host, Port: u.Port, IP: u.IP}
}

// Parse reads a URL or says why it is refused.
func Parse(raw string) (URL, error) {
	if err := checkBytes(raw); err != nil {
		return URL{}, err
	}
	parsed, err := url.Parse(raw)
	if err != nil {
		return URL{}, refuse("the URL is malformed")
	}
	scheme := strings.ToLower(parsed.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return URL{}, refuse("the URL is neither http nor https")
	case parsed.Opaque != "" || parsed.Host == "":
		return URL{}, refuse("the URL has no host")
	case parsed.User != nil || strings.Contains(parsed.Host, "@"):
		return URL{}, refuse("the URL carries user information")
	}
	u := URL{Scheme: scheme}
	if u.Port, err = port(parsed, scheme); err != nil {
		return URL{}, err
	}
	if u.Host, u.IP, err = Host(parsed.Hostname(), strings.HasPrefix(parsed.Host, "[")); err != nil {
		return URL{}, err
	}
	if u.text = u.spell(parsed); len(u.text) > maxURL { // escapes make it longer
		return URL{}, refuse("the URL is longer than %d bytes in its canonical form", maxURL)
	}
	return u, nil
}

func checkBytes(raw string) error {
	switch {
	case raw == "":
		return refuse("the URL is empty")
	case len(raw) > maxURL:
		return refuse("the URL is longer than %d bytes", maxURL)
	case !utf8.ValidString(raw):
		return refuse("the URL is not UTF-8")
	}
	for _, r := range raw {
		if r <= 0x20 || (r >= 0x7f && r <= 0xa0) || r == '\\' || hidden(r) {
			return refuse("the URL contains white space, a backslash or a control character")
		}
	}
	return nil
}

// hidden reports whether a character is invisible or changes how other text looks.
func hidden(r rune) bool {
	return r == 0xad || r == 0x61c || (r >= 0x200b && r <= 0x200f) ||
		(r >= 0x2028 && r <= 0x202e) || (r >= 0x2060 && r <= 0x206f) || r == 0xfeff || r == 0x3000
}

func port(parsed *url.URL, scheme string) (int, error) {
	text := parsed.Port()
	if text == "" {
		if strings.HasSuffix(parsed.Host, ":") {
			return 0, refuse("the URL has an empty port")
		}
		return DefaultPort(scheme), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 || len(text) > 5 || text[0] == '0' {
		return 0, refuse("the URL has a malformed port")
	}
	return n, nil
}

// DefaultPort returns the port of a scheme, or 0.
func DefaultPort(scheme string) int {
	switch scheme {
	case "http":
		return 80
	case "https":
		return 443
	case "ssh":
		return 22
	case "git":
		return 9418
	}
	return 0
}

// spell writes the canonical spelling: no fragment, no dot segments, no
// default port, a lone "/" left out, and nothing outside ASCII.
func (u URL) spell(parsed *url.URL) string {
	var b strings.Builder
	b.WriteString(u.Scheme + "://")
	if u.IP.Is6() {
		b.WriteString("[" + u.Host + "]")
	} else {
		b.WriteString(u.Host)
	}
	if u.Port != DefaultPort(u.Scheme) {
		b.WriteString(":" + strconv.Itoa(u.Port))
	}
	p := removeDots(parsed.EscapedPath())
	if p != "/" || parsed.RawQuery != "" {
		b.WriteString(p)
	}
	if parsed.RawQuery != "" {
		b.WriteString("?" + escapeQuery(parsed.RawQuery))
	}
	return b.String()
}

// removeDots resolves "." and ".." segments, written plainly or escaped, as
// web clients do before they send a request.
func removeDots(p string) string {
	var out []string
	segments := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(s), "%2e", ".") {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// escapeQuery escapes the characters that a query must not contain.
func escapeQuery(q string) string {
	var b strings.Builder
	for i := 0; i < len(q); i++ {
		c := q[i]
		if c <= 0x20 || c >= 0x7f || strings.IndexByte(`"<>'`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
