package policy

import (
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

var forgeName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// identifierValue checks an identifier and brings it to lower case.
func (p *preparation) identifierValue(name string, roles []Role, r Role, s string) (string, error) {
	if r == ProxyDomain {
		return p.proxyDomain(name, s)
	}
	if len(s) > 100 || !forgeName.MatchString(s) || s == "." || s == ".." {
		return s, p.refuse(RuleInvalidValue, name, r, s, "the value is not a name of an owner or a repository")
	}
	s = strings.ToLower(s)
	p.add(roles, element{argument: name, text: s})
	return s, nil
}

// proxyDomain checks a domain that an agent asks to reach. It must be a public name, not
// an IP address or a name that resolves only on this machine or in a local network.
func (p *preparation) proxyDomain(name, s string) (string, error) {
	u, err := urlx.Parse("https://" + s)
	if err == nil && u.String() != "https://"+strings.TrimSuffix(strings.ToLower(s), ".") && isPlain(s) {
		err = &urlx.Error{Reason: "the value is more than a domain"}
	}
	switch {
	case err != nil:
		return s, p.refuse(RuleInvalidValue, name, ProxyDomain, s, err.Error())
	case strings.ContainsAny(s, "/?#:@*"):
		return s, p.refuse(RuleInvalidValue, name, ProxyDomain, s, "the value is more than a domain")
	case !u.Target().Public():
		return s, p.refuse(RuleInvalidValue, name, ProxyDomain, s, "the domain is not a public one")
	}
	target := u.Target()
	p.add([]Role{ProxyDomain}, element{argument: name, text: u.Host, target: &target})
	return u.Host, nil
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// forbiddenHeaders are headers that a call may not set: they carry credentials, name
// another host than the judged one, or control the connection.
var forbiddenHeaders = map[string]bool{
	"host": true, "authorization": true, "cookie": true, "cookie2": true, "set-cookie": true,
	"proxy-authorization": true, "proxy-authenticate": true, "proxy-connection": true,
	"connection": true, "keep-alive": true, "te": true, "trailer": true, "transfer-encoding": true,
	"upgrade": true, "content-length": true, "expect": true, "via": true, "forwarded": true,
	"x-real-ip": true, "x-client-ip": true, "client-ip": true, "true-client-ip": true, "x-cluster-client-ip": true,
	"cf-connecting-ip": true, "x-original-forwarded-for": true, "http2-settings": true,
	"x-http-method": true, "x-http-method-override": true, "x-method-override": true, "x-original-url": true, "x-rewrite-url": true,
	"x-original-host": true, "x-host": true,
}

// credentialHeader matches the names of headers that carry credentials.
var credentialHeader = regexp.MustCompile("authorization|api-?key|secret|password|^x-auth($|-)|token$")

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// headers checks the headers of a request. They must be an object of plain strings, and
// no forbidden name may be among them.
func (p *preparation) headers(name string, roles []Role, v jsonx.Value) error {
	if v.Kind != jsonx.Object {
		return p.refuse(RuleHeaders, name, HTTPHeaders, "", "the headers are not an object")
	}
	for _, m := range v.Members {
		lower := strings.ToLower(m.Name)
		switch {
		case len(m.Name) > 128 || !headerName.MatchString(m.Name):
			return p.refuse(RuleHeaders, name, HTTPHeaders, m.Name, "a header has a malformed name")
		case forbiddenHeaders[lower] || credentialHeader.MatchString(lower) || strings.HasPrefix(lower, "x-forwarded") || strings.HasPrefix(lower, "proxy-") ||
			strings.Contains(lower, "metadata"):
			return p.refuse(RuleHeaders, name, HTTPHeaders, m.Name, "no call may set this header")
		case m.Value.Kind != jsonx.String || !headerValue(m.Value.Text):
			return p.refuse(RuleHeaders, name, HTTPHeaders, m.Name, "a header has a malformed value")
		}
		p.add(roles, element{argument: name, text: lower}) // rules refer to headers by their names
	}
	return nil
}

func headerValue(s string) bool {
	if len(s) > 4096 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if (s[i] < 0x20 && s[i] != '\t') || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
