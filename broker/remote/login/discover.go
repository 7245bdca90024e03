package login

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Limits of one request to a server.
const (
	requestTime = 30 * time.Second
	maxAnswer   = 1 << 20 // bytes
)

// site makes requests to one MCP server and to the servers that it names.
type site struct {
	server *url.URL
	client *http.Client
}

func newSite(address string) (*site, error) {
	u, err := netguard.Service(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the server: %w", err)
	}
	// A server on another machine must not name addresses of this machine or of the person's network.
	client := netguard.Dialer{}.Client(func(host string) bool { return host == u.Hostname() || netguard.OnThisMachine(u.Hostname()) })
	return &site{server: u, client: client}, nil
}

// service checks an address in the server's metadata.
func (s *site) service(what, address string) (*url.URL, error) {
	u, err := netguard.Service(address)
	if err == nil && u.Scheme == "http" && !netguard.OnThisMachine(s.server.Hostname()) {
		err = errors.New("the address must use https")
	}
	if err != nil {
		return nil, fmt.Errorf("%s %.200q: %w", what, address, err)
	}
	return u, nil
}

// statusError is an answer other than 200 or 201.
type statusError struct {
	host string
	code int
	said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answered %q", e.host, fmt.Sprintf("%d %s", e.code, http.StatusText(e.code)))
	if e.code/100 == 3 {
		text += ", a redirect, which is not followed"
	}
	if e.said.Error != "" {
		text += fmt.Sprintf(": %.300q", strings.TrimSpace(e.said.Error+" "+e.said.Description))
	}
	return text
}

// ask makes one request and decodes the JSON answer.
func (s *site) ask(ctx context.Context, method, address, kind string, body []byte, into any, with func(*http.Request)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, fmt.Errorf("no answer within %s", requestTime))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if with != nil {
		with(r)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return brief(ctx, r.URL.Host, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	if err != nil {
		return brief(ctx, r.URL.Host, err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
		failed := &statusError{host: r.URL.Host, code: answer.StatusCode}
		_ = json.Unmarshal(text, &failed.said) // the answer need not have a reason
		return failed
	}
	if json.Unmarshal(text, into) != nil {
		return fmt.Errorf("%s: the answer is not the expected JSON", r.URL.Host)
	}
	return nil
}

// brief returns an error without the address, whose query may be private.
func brief(ctx context.Context, host string, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("%s: %w", host, err)
}

// authorization describes how a person logs in for a server.
type authorization struct {
	resource                 string // the server's name in tokens
	issuer, authorize, token string
	register                 string // "" if programs cannot register themselves
	method                   string // how a program shows its secret, if it has one
	scope                    string
	names                    bool // answers contain the issuer
}

// find asks the server, and the authorization server that it names, how a person logs in.
func (s *site) find(ctx context.Context) (*authorization, error) {
	metadata, scope, err := s.locate(ctx)
	if err != nil {
		return nil, err
	}
	var of struct {
		Resource string   `json:"resource"`
		Issuers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	if err := s.first(ctx, metadata, &of); err != nil {
		return nil, fmt.Errorf("read the server's metadata: %w", err)
	}
	if !covers(of.Resource, s.server) {
		return nil, fmt.Errorf("the server's metadata is for another server, %.200q", of.Resource)
	}
	if len(of.Issuers) == 0 {
		return nil, errors.New("the server's metadata names no authorization server")
	}
	p, err := s.authorizer(ctx, of.Issuers[0])
	if err != nil {
		return nil, err
	}
	p.resource, p.scope = of.Resource, cmp.Or(scope, strings.Join(of.Scopes, " "))
	return p, nil
}

// hello is a first message, which a server that needs a login rejects.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ironcurtain-mux","version":"1"}}}`

// locate returns the addresses at which the server's metadata may be, and the scope that the server
// asks for.
func (s *site) locate(ctx context.Context) (metadata []string, scope string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, fmt.Errorf("no answer within %s", requestTime))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.String(), strings.NewReader(hello))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, "", brief(ctx, s.server.Host, err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		return nil, "", fmt.Errorf("%s does not ask for a login: the answer is %q", s.server.Host, fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode)))
	}
	asked := challenge(answer.Header.Values("WWW-Authenticate"))
	if named := asked["resource_metadata"]; named != "" {
		u, err := s.service("the address of the server's metadata", named)
		if err == nil && (u.Scheme != s.server.Scheme || u.Host != s.server.Host) {
			err = fmt.Errorf("the server says that its metadata is at another host, %s", u.Host)
		}
		return []string{named}, asked["scope"], err
	}
	return wellKnown(s.server, "oauth-protected-resource", true), asked["scope"], nil
}

// wellKnown returns the addresses of a well-known document: with u's path at the end, and if root
// also without it.
func wellKnown(u *url.URL, name string, root bool) []string {
	origin := u.Scheme + "://" + u.Host + "/.well-known/" + name
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" || !root {
		return []string{origin + path}
	}
	return []string{origin + path, origin}
}

// first decodes the document at the first address that does not answer with an error of the client
// (4xx).
func (s *site) first(ctx context.Context, addresses []string, into any) (err error) {
	for _, address := range addresses {
		err = s.ask(ctx, http.MethodGet, address, "", nil, into, nil)
		var status *statusError
		if !errors.As(err, &status) || status.code/100 != 4 {
			return err
		}
	}
	return err
}

// covers reports whether a resource is the server, its host, or a parent of its path.
func covers(resource string, server *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || u.Scheme != server.Scheme || !strings.EqualFold(u.Host, server.Host) || u.RawQuery != "" || u.User != nil || u.Fragment != "" {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(server.EscapedPath(), "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// authorizer reads and checks the metadata of an authorization server.
func (s *site) authorizer(ctx context.Context, issuer string) (*authorization, error) {
	u, err := s.service("the authorization server", issuer)
	if err != nil {
		return nil, err
	}
	at := slices.Concat(wellKnown(u, "oauth-authorization-server", false), wellKnown(u, "openid-configuration", false))
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		at = append(at, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration")
	}
	var of struct {
		Issuer    string   `json:"issuer"`
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Register  string   `json:"registration_endpoint"`
		Proofs    []string `json:"code_challenge_methods_supported"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
		Names     bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := s.first(ctx, at, &of); err != nil {
		return nil, fmt.Errorf("read the metadata of the authorization server: %w", err)
	}
	if strings.TrimSuffix(of.Issuer, "/") != strings.TrimSuffix(issuer, "/") {
		return nil, fmt.Errorf("the authorization server %.200q says that it is %.200q", issuer, of.Issuer)
	}
	if !slices.Contains(of.Proofs, "S256") {
		return nil, fmt.Errorf("the authorization server %.200q does not say that it supports PKCE (S256)", issuer)
	}
	p := &authorization{issuer: of.Issuer, authorize: of.Authorize, token: of.Token, register: of.Register, names: of.Names, method: method(of.Methods)}
	for what, address := range map[string]string{"the authorization endpoint": p.authorize, "the token endpoint": p.token, "the registration endpoint": p.register} {
		if address == "" && what == "the registration endpoint" {
			continue
		}
		if _, err := s.service(what+" of the authorization server", address); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// method chooses how this program authenticates to the authorization server.
func method(offered []string) string {
	for _, m := range []string{"none", "client_secret_post", "client_secret_basic"} {
		if slices.Contains(offered, m) {
			return m
		}
	}
	return "none"
}
