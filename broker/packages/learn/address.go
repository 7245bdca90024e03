package learn

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// base parses the address of a registry as a tool has it. It returns the base that origins use,
// which ends with a slash and has no login, and separately the login. The error does not quote the
// address, because the address may contain a secret.
func base(raw string) (address string, login *url.Userinfo, err error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "":
		return "", nil, errors.New("not a complete address")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", nil, errors.New("not an address of HTTP or HTTPS")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(u.Path, "@"):
		return "", nil, errors.New("the address of a registry must not have a query or an @ in its path")
	}
	login, u.User, u.Fragment, u.RawFragment = u.User, nil, "", ""
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" || port == "" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return withSlash(u).String(), login, nil
}

// withSlash returns the address with a slash at the end of its path.
func withSlash(u *url.URL) *url.URL {
	v := *u
	if !strings.HasSuffix(v.Path, "/") {
		v.Path += "/"
		if v.RawPath != "" {
			v.RawPath += "/"
		}
	}
	return &v
}

// loginInText matches the login in an address.
var loginInText = regexp.MustCompile(`//[^/\s@]*@`)

// withoutLogins removes the logins from the addresses in a text.
func withoutLogins(s string) string { return loginInText.ReplaceAllString(s, "//") }

// sameHost reports whether two bases are on the same server.
func sameHost(a, b string) bool {
	u, err1 := url.Parse(a)
	v, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && u.Scheme == v.Scheme && u.Host == v.Host
}
