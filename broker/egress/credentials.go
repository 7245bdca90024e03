package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/oauth"
)

// keysOnly is the environment variable that, with the value "apikey", makes keys of the
// environment the only credentials.
const keysOnly = "IRONCURTAIN_DOCKER_AUTH"

// Options say where Credentials look and how they renew logins.
type Options struct {
	Environment oauth.Environment
	// Table is the provider table; nil is the built-in one.
	Table []mitm.Provider
	// Upstreams map hosts of token services to other base URLs, for the
	// services of logins that must not be asked for real.
	Upstreams map[string]*url.URL
	// UpstreamCAs are the roots for servers of Upstreams; nil is the system's.
	UpstreamCAs *x509.CertPool
	// Journal is a directory for notes of renewals under way; empty for none.
	Journal string
}

// Credentials are the person's keys and logins. A login is preferred to a key, unless the
// environment allows keys only. All sessions of a process share one value, so that a login
// is renewed once for all of them. It is safe for concurrent use.
type Credentials struct {
	*loginsInUse
	options Options
	keys    Keys
	others  []Keys // that With has replaced; they stay secret
}

// loginsInUse are the logins of all Credentials that With has made of one.
type loginsInUse struct {
	mu       sync.Mutex
	managers map[string]*oauth.Manager // by the place of the login
	chosen   map[string]*oauth.Manager // by provider: the login that worked last
}

// NewCredentials looks for a key or a login for each provider. A provider without both is
// no error here; Credential returns an error until there is one.
func NewCredentials(providers []string, o Options) *Credentials {
	if o.Table == nil {
		o.Table = mitm.Providers()
	}
	c := &Credentials{
		loginsInUse: &loginsInUse{managers: make(map[string]*oauth.Manager), chosen: make(map[string]*oauth.Manager)},
		options:     o,
		keys:        EnvironmentKeys(o.Table, providers, o.Environment.Getenv),
	}
	for _, p := range providers {
		_, _ = c.look(p)
	}
	return c
}

// With returns credentials that use these keys in place of those of the environment, and the
// same logins.
func (c *Credentials) With(own Keys) *Credentials {
	d := *c
	d.keys, d.others = maps.Clone(c.keys), append(slices.Clone(c.others), c.keys)
	maps.Copy(d.keys, own)
	return &d
}

// look finds a usable login of a provider. The manager and the error are nil when the
// provider's key is used.
func (c *Credentials) look(provider string) (*oauth.Manager, error) {
	if !c.logins(provider) {
		return nil, nil
	}
	source, err := oauth.Find(provider, c.options.Environment, time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		delete(c.chosen, provider)
		if c.keys[provider] != "" {
			return nil, nil
		}
		return nil, err
	}
	m := c.managers[source.Place()]
	if m == nil {
		m = oauth.NewManager(source, c.service(source))
		c.managers[source.Place()] = m
	}
	c.chosen[provider] = m
	return m, nil
}

// logins reports whether logins of a provider are used.
func (c *Credentials) logins(provider string) bool {
	return c.options.Environment.Getenv(keysOnly) != "apikey" && len(oauth.Sources(provider, c.options.Environment)) > 0
}

// service returns how the token service of a login is reached.
func (c *Credentials) service(s *oauth.Source) oauth.Options {
	endpoint, err := url.Parse(s.Endpoint())
	if err != nil {
		return oauth.Options{Journal: c.options.Journal}
	}
	base := c.options.Upstreams[endpoint.Host]
	if base == nil {
		return oauth.Options{Journal: c.options.Journal}
	}
	return oauth.Options{
		Journal:  c.options.Journal,
		Endpoint: base.JoinPath(endpoint.Path).String(),
		Client: &http.Client{Transport: &http.Transport{
			TLSClientConfig:     mitm.UpstreamTLS(c.options.UpstreamCAs, base.Hostname(), endpoint.Host),
			TLSHandshakeTimeout: 10 * time.Second,
			DisableKeepAlives:   true,
		}},
	}
}

// Modes is a mitm.Config.Modes: which kind of credential each provider has now.
func (c *Credentials) Modes() map[string]string {
	modes := make(map[string]string)
	for p := range c.keys {
		modes[p] = mitm.KindAPIKey
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.chosen {
		modes[p] = mitm.KindBearer
	}
	return modes
}

// Held is a mitm.Config.Held: all keys, and the tokens of the logins in use.
func (c *Credentials) Held() []mitm.Credential {
	all := c.keys.Held()
	for _, k := range c.others {
		all = append(all, k.Held()...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.chosen {
		t := m.Held()
		all = append(all, mitm.Credential{Kind: mitm.KindBearer, Value: t.Access, Account: t.Account})
	}
	return all
}

// APIKeys are the keys alone.
func (c *Credentials) APIKeys() Keys { return c.keys }

// Secrets lists the keys, for callers that must keep them out of text. The tokens of logins change
// and are known by their shape.
func (c *Credentials) Secrets() []string { return c.keys.Secrets() }

// Credential is a mitm.Config.Credentials. When a login has become unusable, it uses
// another login of the provider, or the provider's key.
func (c *Credentials) Credential(ctx context.Context, provider string) (mitm.Credential, error) {
	c.mu.Lock()
	login := c.chosen[provider]
	c.mu.Unlock()
	if login == nil {
		return c.first(ctx, provider)
	}
	cred, failed := tokenOf(ctx, login)
	if failed == nil {
		return cred, nil
	}
	var needed *oauth.LoginError
	if !errors.As(failed, &needed) {
		return mitm.Credential{}, failed // it may work in a moment, and a key would cost money
	}
	next, err := c.look(provider)
	switch {
	case err == nil && next == nil:
		return c.keys.Credential(ctx, provider)
	case err == nil && next != login:
		return tokenOf(ctx, next)
	case c.keys[provider] != "":
		return c.keys.Credential(ctx, provider)
	}
	return mitm.Credential{}, failed
}

// first returns the credential of a provider without a login in use: its key or, without
// one, a login that was made in the meantime.
func (c *Credentials) first(ctx context.Context, provider string) (mitm.Credential, error) {
	cred, err := c.keys.Credential(ctx, provider)
	if err == nil {
		return cred, nil
	}
	login, err := c.look(provider)
	if login == nil {
		return mitm.Credential{}, c.lack(provider, err)
	}
	return tokenOf(ctx, login)
}

// Check returns an error if a provider has no credential. It renews none; a login that must
// be renewed counts.
func (c *Credentials) Check(provider string) error {
	login, err := c.look(provider)
	if login != nil || c.keys[provider] != "" {
		return nil
	}
	return c.lack(provider, err)
}

// lack returns the error for a provider without a key, given why it has no login.
func (c *Credentials) lack(provider string, login error) error {
	key := &MissingKeyError{Provider: provider, Variables: variables(c.options.Table, provider)}
	switch {
	case login == nil:
		return key
	case len(key.Variables) == 0:
		return login
	}
	return &NoCredentialError{key: key, login: login}
}

func tokenOf(ctx context.Context, m *oauth.Manager) (mitm.Credential, error) {
	token, err := m.Token(ctx)
	if err != nil {
		return mitm.Credential{}, err
	}
	return mitm.Credential{Kind: mitm.KindBearer, Value: token.Access, Account: token.Account}, nil
}

// Refused is a mitm.Config.Refused: a login is renewed; a key cannot be.
func (c *Credentials) Refused(ctx context.Context, provider string, used mitm.Credential) bool {
	c.mu.Lock()
	login := c.chosen[provider]
	c.mu.Unlock()
	return login != nil && used.Kind == mitm.KindBearer && login.Refused(ctx, used.Value)
}

// NoCredentialError means that a provider has neither a key nor a login.
type NoCredentialError struct{ key, login error }

func (e *NoCredentialError) Error() string {
	why := e.login.Error()
	if login, ok := errors.AsType[*oauth.LoginError](e.login); ok {
		why = login.Cause // the hint says that a login would help
	}
	return e.key.Error() + ", and " + why
}

// Unwrap returns both reasons.
func (e *NoCredentialError) Unwrap() []error { return []error{e.key, e.login} }

// Hint names both ways to get a credential.
func (e *NoCredentialError) Hint() string {
	var ways []string
	for _, err := range []error{e.key, e.login} {
		if next := fault.Hint(err); next != "" {
			ways = append(ways, next)
		}
	}
	return strings.Join(ways, ", or ")
}
