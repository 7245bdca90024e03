package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Remote is a server that is reached over HTTP.
type Remote struct {
	Address string
	// Login provides the tokens of the person's login at the server. It is nil if a header has the
	// credential, so that nobody logs in.
	Login interface {
		Token(ctx context.Context) (string, error)
		Renew(ctx context.Context, rejected string) (string, error)
	}
	headers map[string]string // with "${NAME}" in place of credentials
}

// Remote returns how to reach the server over HTTP, or nil if the server is a program.
func (c Config) Remote() *Remote {
	if !c.overHTTP() {
		return nil
	}
	return &Remote{Address: c.URL, headers: c.Headers}
}

// LogsIn reports whether the person can log in at the server: it is reached over HTTP, and
// no header has the credential.
func (c Config) LogsIn() bool {
	return c.overHTTP() && len(c.Credentials) == 0
}

// Header returns the headers of requests with the values of credentials.
func (r *Remote) Header(credentials map[string]string) http.Header {
	h := http.Header{}
	for name, value := range r.headers {
		h.Set(name, reference.ReplaceAllStringFunc(value, func(ref string) string { return credentials[ref[2:len(ref)-1]] }))
	}
	return h
}

// reference matches the place of a credential in a header.
var reference = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

var (
	headerName  = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`)
	headerValue = regexp.MustCompile(`^[ -~]*$`)
	// secretName matches the names of headers whose values are secrets.
	secretName = regexp.MustCompile(`(?i)auth|cookie|key|password|secret|token`)
)

// fixed are the headers that the client sets itself.
var fixed = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// overHTTP reports whether the server is reached over HTTP.
func (c Config) overHTTP() bool {
	return c.URL != "" || c.Type == "http" || c.Type == "streamable-http"
}

// checkRemote refuses a server over HTTP that could not be reached, and settings without an effect.
func (c Config) checkRemote() error {
	switch {
	case c.Type == "stdio":
		return errors.New(`type "stdio": a server with a url has the type "http"`)
	case c.URL == "":
		return errors.New("url is missing")
	case c.Command != "" || c.Args != nil || c.Env != nil || !reflect.DeepEqual(c.Sandbox, Sandbox{}):
		return errors.New("command, args, env and sandbox are for servers that are programs, not for one with a url")
	}
	if _, err := netguard.Service(c.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if c.OAuth != nil {
		if err := c.checkOAuth(); err != nil {
			return err
		}
	}
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		value, plain := c.Headers[name], http.CanonicalHeaderKey(name)
		refs := reference.FindAllString(value, -1)
		switch {
		case !headerName.MatchString(name) || !headerValue.MatchString(value):
			return fmt.Errorf("headers: %q cannot be sent", name)
		case slices.Contains(fixed, plain):
			return fmt.Errorf("headers: %q is set by the program itself", name)
		case secretName.MatchString(name) && len(refs) == 0:
			return fmt.Errorf(`headers: the value of %q is a secret and is never written here; write "${NAME}" and say in credentials where NAME is`, name)
		case strings.Count(value, "${") != len(refs):
			return fmt.Errorf(`headers: in %q, "${" is not followed by the name of a credential`, name)
		}
		for _, ref := range refs {
			ref = ref[2 : len(ref)-1]
			if _, known := c.Credentials[ref]; !known {
				return fmt.Errorf("headers: %q names %s, which is not in credentials", name, ref)
			}
			used[ref] = true
		}
	}
	for name := range c.Credentials {
		if !used[name] {
			return fmt.Errorf("credentials: no header names ${%s}", name)
		}
	}
	return nil
}

// OAuth says how this program logs the person in at the authorization server of an MCP server.
type OAuth struct {
	ClientID string `json:"clientId"`     // that the person has registered; if "", the program registers itself
	Port     int    `json:"callbackPort"` // of this machine, for the answer; 0 means any
	Scope    string `json:"scope"`        // "" means the scope that the server asks for
}

func (c Config) checkOAuth() error {
	switch {
	case !c.LogsIn():
		return errors.New("oauth: a header has the credential already")
	case c.OAuth.Port < 0 || c.OAuth.Port > 65535:
		return fmt.Errorf("oauth: %d is not a port", c.OAuth.Port)
	case !headerValue.MatchString(c.OAuth.ClientID) || !headerValue.MatchString(c.OAuth.Scope):
		return errors.New("oauth: clientId and scope must be printable ASCII characters")
	}
	return nil
}
