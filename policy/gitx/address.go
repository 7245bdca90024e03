package gitx

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// Address is a network address that git would connect to.
type Address struct {
	Scheme string // "https", "http", "ssh" or "git"
	User   string // of ssh, may be empty
	Host   string // canonical
	Port   int
	IP     netip.Addr
	Path   string // "owner/repo", without slashes at the ends and ".git"
	text   string
}

// String returns the canonical spelling, which parses to the same address.
func (a Address) String() string { return a.text }

// Target returns the form of the address that patterns are matched against.
func (a Address) Target() urlx.Target {
	return urlx.Target{Scheme: a.Scheme, Host: a.Host, Port: a.Port, IP: a.IP, Path: a.Path}
}

var (
	helper = regexp.MustCompile(`^[A-Za-z0-9+.-]*::`)
	scp    = regexp.MustCompile(`^(?:([A-Za-z0-9._][A-Za-z0-9._-]*)@)?([^/:@\[\]]+|\[[0-9A-Fa-f:.]+\]):(.+)$`)
	user   = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]*$`)
)

// looksLikeAddress reports whether git would take a value as an address without looking
// for a remote of that name.
func looksLikeAddress(s string) bool {
	return strings.Contains(s, "::") || strings.Contains(s, "://") || scp.MatchString(s)
}

// checkArgument refuses values that must not be given to git as a remote.
func checkArgument(s string) error {
	switch {
	case s == "":
		return refuse("the remote is empty")
	case len(s) > 2048:
		return refuse("the remote is too long")
	case strings.HasPrefix(s, "-"):
		return refuse("the remote looks like an option")
	case !utf8.ValidString(s):
		return refuse("the remote is not UTF-8")
	case helper.MatchString(s):
		return refuse("the remote starts a remote helper")
	}
	for _, r := range s {
		if r <= 0x20 || r == '\\' || (r >= 0x7f && r <= 0xa0) || (r >= 0x2000 && r <= 0x206f) {
			return refuse("the remote contains white space, a backslash or a control character")
		}
	}
	return nil
}

// ParseAddress reads an address that git would contact over the network.
// Local paths, bundles, remote helpers and credentials are refused.
func ParseAddress(s string) (Address, error) {
	if err := checkArgument(s); err != nil {
		return Address{}, err
	}
	a, err := parseAddress(s)
	if err != nil {
		return Address{}, err
	}
	// Git gets the canonical spelling, so that must not start a remote helper either. A
	// host name with other characters than ASCII can hide one until it is normalized.
	if err := checkArgument(a.text); err != nil {
		return Address{}, err
	}
	return a, nil
}

func parseAddress(s string) (Address, error) {
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		switch strings.ToLower(scheme) {
		case "http", "https":
			return webAddress(s)
		case "ssh", "git+ssh", "ssh+git":
			return sshAddress(s, "ssh")
		case "git":
			return sshAddress(s, "git")
		}
		return Address{}, refuse("the remote is neither https nor ssh")
	}
	m := scp.FindStringSubmatch(s)
	if m == nil || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") {
		return Address{}, refuse("the remote is a local path")
	}
	return scpAddress(m[1], m[2], m[3])
}

func webAddress(s string) (Address, error) {
	u, err := urlx.Parse(s)
	if err != nil {
		return Address{}, refuse("the remote is refused: %s", err)
	}
	_, rest, _ := strings.Cut(u.String(), "://")
	if strings.ContainsAny(rest, "?#") {
		return Address{}, refuse("the remote has a query")
	}
	_, p, _ := strings.Cut(rest, "/")
	a := Address{Scheme: u.Scheme, Host: u.Host, Port: u.Port, IP: u.IP, text: u.String()}
	a.Path, err = repoPath(p)
	return a, err
}

func sshAddress(s, scheme string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(u.Host, ":") {
		return Address{}, refuse("the remote is malformed")
	}
	a := Address{Scheme: scheme, Port: urlx.DefaultPort(scheme)}
	if u.User != nil {
		if _, has := u.User.Password(); has || scheme == "git" || !user.MatchString(u.User.Username()) {
			return Address{}, refuse("the remote carries credentials")
		}
		a.User = u.User.Username()
	}
	if p := u.Port(); p != "" {
		if a.Port, err = strconv.Atoi(p); err != nil || a.Port < 1 || a.Port > 65535 {
			return Address{}, refuse("the remote has a malformed port")
		}
	}
	if a.Host, a.IP, err = urlx.Host(u.Hostname(), strings.HasPrefix(u.Host, "[")); err != nil {
		return Address{}, refuse("the remote is refused: %s", err)
	}
	if a.Path, err = repoPath(strings.TrimPrefix(u.EscapedPath(), "/")); err != nil {
		return Address{}, err
	}
	a.text = scheme + "://" + at(a.User) + bracket(a.Host, a.IP)
	if a.Port != urlx.DefaultPort(scheme) {
		a.text += ":" + strconv.Itoa(a.Port)
	}
	a.text += u.EscapedPath()
	return a, nil
}

func scpAddress(login, host, p string) (Address, error) {
	if strings.HasPrefix(p, "-") {
		return Address{}, refuse("the remote looks like an option")
	}
	canonical, ip, err := urlx.Host(strings.Trim(host, "[]"), strings.HasPrefix(host, "["))
	if err != nil {
		return Address{}, refuse("the remote is refused: %s", err)
	}
	a := Address{Scheme: "ssh", User: login, Host: canonical, Port: 22, IP: ip}
	if a.Path, err = repoPath(strings.TrimPrefix(p, "/")); err != nil {
		return Address{}, err
	}
	a.text = at(login) + bracket(canonical, ip) + ":" + p
	return a, nil
}

// repoPath brings the path of a repository to the form "owner/repo".
func repoPath(p string) (string, error) {
	for segment := range strings.SplitSeq(p, "/") {
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case "..", ".":
			return "", refuse("the path of the remote has \".\" or \"..\" in it")
		}
	}
	return strings.TrimSuffix(strings.Trim(p, "/"), ".git"), nil
}

func at(login string) string {
	if login == "" {
		return ""
	}
	return login + "@"
}

func bracket(host string, ip netip.Addr) string {
	if ip.Is6() {
		return "[" + host + "]"
	}
	return host
}
