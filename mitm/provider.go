package mitm

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/body"
)

// Provider is one entry of the provider table: its hosts, how it takes its credential,
// and its endpoints.
type Provider struct {
	// Name is the provider's name in the configuration.
	Name string `json:"name"`
	// Errors is the format of the provider's error bodies: "anthropic", "openai",
	// "google" or "github".
	Errors string `json:"errors"`
	// Modes are the ways to present a credential; the first is the default.
	Modes []Mode `json:"modes"`
	// RequestHeaders are the fields that are forwarded in addition to the common ones,
	// in lower case; a final "*" stands for any ending.
	RequestHeaders []string `json:"requestHeaders,omitempty"`
	// SetHeaders are fields that are set on every request.
	SetHeaders map[string]string `json:"setHeaders,omitempty"`
	// DropBetas are beginnings of feature names. Such features are removed from the
	// field anthropic-beta, because they let the provider fetch or keep things.
	DropBetas []string `json:"dropBetas,omitempty"`
	// Hosts are the provider's servers.
	Hosts []Host `json:"hosts"`
	// KeyVariables are the names of the environment variables that can hold the
	// provider's key; the first one that is set is used.
	KeyVariables []string `json:"keyVariables,omitempty"`
	// API means that any path may be asked for, and that a person is asked about every
	// request that does not only read.
	API bool `json:"-"`
}

// Mode is one way to present a credential.
type Mode struct {
	Kind     string `json:"kind"`     // "api-key" or "bearer"
	Header   string `json:"header"`   // in lower case; "authorization" takes "Bearer "
	Sentinel string `json:"sentinel"` // the prefix of sentinels; "jwt" makes an unsigned token
}

// Host is one server of a provider.
type Host struct {
	Name string `json:"name"`
	// BaseURL, if not empty, is where requests for the host are sent instead: an http or
	// https URL, whose path becomes a prefix.
	BaseURL   string     `json:"baseUrl,omitempty"`
	Endpoints []Endpoint `json:"endpoints"`
	// Below are the path prefixes of an API that shares its host with other pages.
	Below []string `json:"-"`
}

// Endpoint is a method and path of a host that requests may go to.
type Endpoint struct {
	Method string `json:"method"`
	// Path is compared byte by byte. A "*" stands for a letter or digit, followed by any
	// number of letters, digits, dots, hyphens and underscores.
	Path string `json:"path"`
	// Query maps the allowed keys to their allowed values: one literal, or "*" for
	// letters, digits, dots, hyphens and underscores.
	Query map[string]string `json:"query,omitempty"`
	// Auth is "required" (also when empty) or "none". With "none", no credential is
	// sent, and a presented sentinel is dropped.
	Auth string `json:"auth,omitempty"`
	// Body is the wire format of the request body. If it is empty, the request must not
	// have a body.
	Body body.Format `json:"body,omitempty"`
	// Kind limits the endpoint to one kind of credential; empty for any.
	Kind string `json:"kind,omitempty"`
	// Ask makes every request wait for a person.
	Ask bool `json:"ask,omitempty"`

	path *regexp.Regexp // of a path with "*"
}

// prepare checks one entry and compiles its patterns.
func (p *Provider) prepare() error {
	if p.Name == "" || len(p.Modes) == 0 || len(p.Hosts) == 0 {
		return errors.New("name, modes and hosts are needed")
	}
	if !slices.Contains([]string{"anthropic", "openai", "google", GitHub}, p.Errors) {
		return fmt.Errorf("errors has the unknown shape %q", p.Errors)
	}
	for _, m := range p.Modes {
		if m.Kind != KindAPIKey && m.Kind != KindBearer {
			return fmt.Errorf("mode has the unknown kind %q", m.Kind)
		}
		if !slices.Contains(credentialHeaders, m.Header) || m.Sentinel == "" {
			return fmt.Errorf("mode %s needs a credential header and a sentinel", m.Kind)
		}
	}
	for name, value := range p.SetHeaders {
		name = lowerASCII(name)
		if !isToken(name) || slices.Contains(credentialHeaders, name) || slices.Contains(neverForwarded, name) || !printableASCII(value) {
			return fmt.Errorf("setHeaders cannot set the field %q to that value", name)
		}
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if !validHost(h.Name) {
			return fmt.Errorf("%q is not a host name in lower case", h.Name)
		}
		if _, err := h.base(); err != nil {
			return err
		}
		for j := range h.Endpoints {
			if err := h.Endpoints[j].prepare(); err != nil {
				return fmt.Errorf("endpoint %s %s of %s: %w", h.Endpoints[j].Method, h.Endpoints[j].Path, h.Name, err)
			}
		}
	}
	return nil
}

// base returns the URL that requests for the host go to.
func (h *Host) base() (*url.URL, error) {
	if h.BaseURL == "" {
		return &url.URL{Scheme: "https", Host: h.Name}, nil
	}
	u, err := url.Parse(h.BaseURL)
	if err != nil { // the error is left out, because it could contain a password
		return nil, fmt.Errorf("the base URL of %s is not a URL", h.Name)
	}
	return u, checkBase(h.Name, u)
}

// checkBase refuses a base URL that cannot be used, or that contains more than an
// address.
func checkBase(host string, u *url.URL) error {
	if u == nil || u.Hostname() == "" || u.Opaque != "" || !printableASCII(u.Host) || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("upstream of %s is not an http or https URL", host)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.RawPath != "" {
		return fmt.Errorf("upstream of %s must be a plain base URL without user, query, fragment or escapes", host)
	}
	if _, err := portOf(u); err != nil {
		return fmt.Errorf("upstream of %s has the port %q; a port is a number from 1 to 65535", host, u.Port())
	}
	// A name is looked up when a request is made, and its addresses are checked then.
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if why := netguard.Refuse(addr, true); why != "" {
			return fmt.Errorf("upstream of %s is %s, %s", host, addr, why)
		}
	}
	return nil
}

// portOf returns the port of a URL, or the default port of its scheme.
func portOf(u *url.URL) (uint16, error) {
	switch {
	case u.Port() != "":
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		if err == nil && port == 0 {
			err = strconv.ErrRange
		}
		return uint16(port), err
	case u.Scheme == "http":
		return 80, nil
	}
	return 443, nil
}

func (e *Endpoint) prepare() error {
	e.path = nil

	if e.Method != "GET" && e.Method != "POST" {
		return errors.New("the method must be GET or POST")
	}
	if d := checkPath(strings.ReplaceAll(e.Path, "*", "x")); d != nil {
		return d
	}
	if e.Auth != "" && e.Auth != "required" && e.Auth != "none" {
		return fmt.Errorf("auth %q is neither required nor none", e.Auth)
	}
	if e.Body != "" && !e.Body.Valid() {
		return fmt.Errorf("body has the unknown format %q", e.Body)
	}
	if e.Body != "" && e.Method != "POST" {
		return errors.New("only a POST has a body")
	}
	if strings.Contains(e.Path, "*") {
		quoted := strings.ReplaceAll(regexp.QuoteMeta(e.Path), `\*`, `[A-Za-z0-9][A-Za-z0-9._-]*`)
		e.path = regexp.MustCompile("^(?:" + quoted + ")$")
	}
	return nil
}

// sets reports whether SetHeaders sets the field with this name in lower case.
func (p *Provider) sets(name string) bool {
	for set := range p.SetHeaders {
		if lowerASCII(set) == name {
			return true
		}
	}
	return false
}

// matches reports whether a request with this method and path goes to the endpoint.
func (e *Endpoint) matches(method, path string) bool {
	if method != e.Method {
		return false
	}
	if e.path != nil {
		return e.path.MatchString(path)
	}
	return path == e.Path
}

// model returns the model in the path, where Google's paths have it, or an empty string.
func (e *Endpoint) model(path string) string {
	if e.Body != body.GoogleGenerate {
		return ""
	}
	name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	return name
}

// modeFor returns the provider's mode of a kind, or its first without a kind.
func (p *Provider) modeFor(kind string) (Mode, error) {
	if kind == "" {
		return p.Modes[0], nil
	}
	for _, m := range p.Modes {
		if m.Kind == kind {
			return m, nil
		}
	}
	return Mode{}, fmt.Errorf("provider %s does not take a %s credential", p.Name, kind)
}
