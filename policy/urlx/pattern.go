package urlx

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Target is what a pattern is matched against: where a connection would go.
type Target struct {
	Scheme string // "https", "ssh", …
	Host   string // canonical
	Port   int
	IP     netip.Addr // valid when the host is an address
	Path   string     // "owner/repo" of a git remote, else empty
}

// Public reports whether the host is a name of several labels below a
// registered top-level domain, so that it can be reached from anywhere and
// does not mean something else inside a network.
func (t Target) Public() bool {
	return !t.IP.IsValid() && publicName(t.Host)
}

func publicName(host string) bool {
	// Below arpa are names of addresses, and home.arpa, which every home network has.
	if !strings.Contains(host, ".") || strings.HasSuffix(host, ".arpa") {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	// A suffix with a dot that is not ICANN's is listed by its owner.
	return icann || strings.Contains(suffix, ".")
}

// Pattern says which targets a rule covers.
type Pattern struct {
	anything   bool   // see Anything
	any        bool   // "*"
	subdomains bool   // "*.example.com"
	scheme     string // empty: see Match
	host       string
	port       int    // 0: the default port of the scheme
	path       string // "owner/repo" or empty
}

// Anything is the pattern that covers every target. It replaces a pattern that
// cannot be read, where covering no target would be unsafe.
func Anything() Pattern { return Pattern{anything: true} }

// ParsePattern reads "*", "example.com", "*.example.com", "host/owner/repo",
// each optionally with "scheme://" before and ":port" after the host.
// A wildcard for a registry's whole suffix, such as "*.com", is refused.
func ParsePattern(s string) (Pattern, error) {
	var p Pattern
	rest := s
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		p.scheme, rest = strings.ToLower(scheme), after
		if DefaultPort(p.scheme) == 0 {
			return p, refuse("unknown scheme in the pattern")
		}
	}
	rest, p.path, _ = strings.Cut(rest, "/")
	p.path = strings.TrimSuffix(strings.Trim(p.path, "/"), ".git") // as in gitx.Address
	if rest == "*" {
		if p.path != "" {
			return p, refuse("the pattern names a path on every host")
		}
		p.any = true
		return p, nil
	}
	host, portText := splitPort(rest)
	if portText != "" {
		n, err := strconv.Atoi(portText)
		if err != nil || n < 1 || n > 65535 {
			return p, refuse("malformed port in the pattern")
		}
		p.port = n
	}
	if sub, ok := strings.CutPrefix(host, "*."); ok {
		p.subdomains, host = true, sub
	}
	bracketed := strings.HasPrefix(host, "[")
	canonical, ip, err := Host(strings.Trim(host, "[]"), bracketed)
	if err != nil {
		return p, err
	}
	p.host = canonical
	if p.subdomains && (ip.IsValid() || registrySuffix(canonical)) {
		return p, refuse("the pattern covers a whole public suffix or an address")
	}
	return p, nil
}

// registrySuffix reports whether a registry sells the names below this name.
func registrySuffix(name string) bool {
	if !strings.Contains(name, ".") {
		return true
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	return icann && suffix == name
}

// wholeSuffix reports whether anybody can have a name below this name: from a
// registry, or from a service that gives names away, such as github.io.
func wholeSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return registrySuffix(name) || suffix == name && publicName(name) && !isAddress(name)
}

func splitPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || (strings.HasPrefix(s, "[") && i < strings.IndexByte(s, ']')) {
		return s, ""
	}
	if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s, "" // an IPv6 address without brackets
	}
	return s[:i], s[i+1:]
}

// Plain reports whether the pattern is only a host, or only all subdomains of a
// host, without scheme, port or path.
func (p Pattern) Plain() bool {
	return !p.anything && !p.any && p.scheme == "" && p.port == 0 && p.path == ""
}

// CoversSuffix reports whether the pattern is a public suffix, such as "com" or
// "github.io", or all subdomains of one. Anybody can have a name below it.
func (p Pattern) CoversSuffix() bool { return p.host != "" && wholeSuffix(p.host) }

// Subdomains reports whether the pattern covers a host and all names below it.
func (p Pattern) Subdomains() bool { return p.subdomains }

// Everywhere reports whether the pattern covers every public host, or every host.
func (p Pattern) Everywhere() bool { return p.any || p.anything }

// Public reports whether the pattern names a public host, or public hosts below
// one, and not an IP address.
func (p Pattern) Public() bool {
	return !p.anything && !p.any && !isAddress(p.host) && publicName(p.host)
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Match reports whether the pattern covers the target. A pattern without a scheme
// covers only encrypted connections at their usual port, and a pattern with a path
// covers only targets with exactly this path, unless wide is set: then it covers
// every connection to the host, and targets whose path is not known or may be
// another spelling of the pattern's path. "*" never covers a host that is not public.
func (p Pattern) Match(t Target, wide bool) bool {
	return p.anything || p.matchScheme(t, wide) && p.matchHost(t) && p.matchPath(t, wide)
}

// forges are hosts that ignore the case of owner and repository.
var forges = []string{"github.com", "ssh.github.com", "gitlab.com", "altssh.gitlab.com", "bitbucket.org", "altssh.bitbucket.org", "codeberg.org", "gitea.com"}

// plainPath matches paths that are not another spelling of a path: "owner//repo"
// and "owner/re%70o" are spellings of "owner/repo".
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_.-]*[A-Za-z0-9_-](/[A-Za-z0-9_.-]*[A-Za-z0-9_-])*$`)

func (p Pattern) matchPath(t Target, wide bool) bool {
	switch {
	case p.path == "" || p.path == t.Path:
		return true
	case wide && (!plainPath.MatchString(t.Path) || strings.HasSuffix(strings.ToLower(t.Path), ".git")):
		return true
	case wide || slices.Contains(forges, t.Host):
		return len(p.path) == len(t.Path) && strings.EqualFold(p.path, t.Path)
	}
	return false
}

func (p Pattern) matchScheme(t Target, wide bool) bool {
	if p.scheme != "" && p.scheme != t.Scheme {
		return false
	}
	if p.port != 0 {
		return p.port == t.Port && (p.scheme != "" || wide || encrypted(t.Scheme))
	}
	if p.scheme != "" {
		return t.Port == DefaultPort(t.Scheme)
	}
	return wide || (encrypted(t.Scheme) && t.Port == DefaultPort(t.Scheme))
}

func encrypted(scheme string) bool { return scheme == "https" || scheme == "ssh" }

func (p Pattern) matchHost(t Target) bool {
	switch {
	case p.any:
		return t.Public()
	case p.subdomains:
		return !t.IP.IsValid() && (t.Host == p.host || strings.HasSuffix(t.Host, "."+p.host))
	}
	return t.Host == p.host
}
