package session

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Credentials are the real keys and logins of the person, for all sessions.
type Credentials interface {
	// Credential returns the credential for requests to a provider. The hint of an
	// error tells the person how to get one.
	Credential(ctx context.Context, provider string) (mitm.Credential, error)
	// Refused is called when a provider has refused a credential. It reports whether
	// there is another one now.
	Refused(ctx context.Context, provider string, used mitm.Credential) bool
	// Modes says which kind of credential each provider has now.
	Modes() map[string]string
	// Held returns all present credentials, for the code that must keep them from the
	// agent.
	Held() []mitm.Credential
	// APIKeys returns the credentials that are keys, for agents that cannot use logins.
	APIKeys() egress.Keys
}

// Opener is what a session has from the terminal in which it was opened. It is never stored.
type Opener struct {
	Keys        egress.Keys // of its environment; they replace those of this process
	Environment []string    // that a shell of this machine gets; nil: that of this process
}

// AgentKey says where the API key of an agent's sessions is, and whose key it is.
type AgentKey struct {
	Provider  string
	Reference secretref.Reference
}

// withKeys returns d, or a copy for a session that has keys of its own: of an agent whose API
// key is given by reference, which is looked for now, this key and no other credential; else the
// keys of whoever has opened the session.
func (d *Deps) withKeys(name string, opener Opener) (*Deps, error) {
	config, own := *d.Config, *d
	own.Config = &config
	given, is := d.Config.AgentKeys[name]
	if !is {
		shared, is := config.Credentials.(*egress.Credentials)
		if !is || len(opener.Keys) == 0 {
			return d, nil
		}
		config.Credentials = shared.With(opener.Keys)
		config.Secrets = slices.Concat(config.Secrets, opener.Keys.Secrets())
		return &own, nil
	}
	key, err := given.Reference.Resolve(d.Context)
	if err != nil {
		return nil, fault.New("fix it, or agentApiKeys in config.json", "find the API key of %s: %w", name, err)
	}
	config.Credentials = egress.Keys{given.Provider: key}
	config.Secrets = append(slices.Clone(config.Secrets), key)
	return &own, nil
}

// provider is what an agent needs to know of its model provider: fake keys and
// the certificate under which the proxy answers.
type provider struct {
	sentinels   map[string]string // by provider
	logins      map[string]string // account name by provider, for sentinels that stand in for a login's token
	certificate []byte            // PEM; nil for an agent without a way out
	environment []string          // variables for its programs
}

// hasWayOut reports whether the agent has a MITM proxy: to its model, to GitHub, to package
// registries.
func (s *Session) hasWayOut() bool {
	return len(s.adapter.Providers) > 0 || s.deps.Config.GitHub != nil || s.deps.Config.Packages != nil
}

// serveProvider opens the agent's way to its model: the MITM proxy on a socket
// of its own, which is its way to GitHub's API as well. An agent that talks to no model,
// such as a plain shell, gets no way out to one.
func (s *Session) serveProvider(ctx context.Context, stack *teardown, log *audit.Log) (provider, error) {
	if !s.hasWayOut() {
		return provider{}, nil
	}
	credentials := s.deps.Config.Credentials
	if s.adapter.KeysOnly {
		credentials = credentials.APIKeys()
	}
	var name, account string
	var err error
	if len(s.adapter.Providers) > 0 {
		if name, account, err = s.chooseProvider(ctx, credentials); err != nil {
			return provider{}, err
		}
		if err := s.openAccount(stack); err != nil {
			return provider{}, err
		}
	}
	modes := credentials.Modes()
	config := s.modelProxyConfig(name, credentials, log)
	config.Modes = modes
	config.Budget = s.reserveBudget
	held := newPause(ctx, s, stack, log)
	config.Admit = func(ctx context.Context, r mitm.Request) error {
		if err := s.requests.wait(ctx); err != nil {
			return err
		}
		return held.admit(ctx, r)
	}
	config.Activity = func(a mitm.Activity) {
		if a.Kind == mitm.KeyLeaked {
			held.begin(a)
		}
		s.providerActivity(a)
	}
	s.openPackages(ctx, &config, stack, log)
	proxy, err := mitm.New(config)
	if err != nil {
		return provider{}, fmt.Errorf("open the way to the model: %w", err)
	}
	s.keepIdentity(stack, proxy)
	listener, err := s.openListener(mux.Model, s.layout.ProxySocket())
	if err != nil {
		return provider{}, err
	}
	s.mu.Lock()
	s.modelProxy = proxy
	s.mu.Unlock()
	served := s.serveClients("models", proxy.Serve, listener)
	stack.push("close the way to the model", func(ctx context.Context) error {
		err := proxy.Close(ctx)
		if failure := <-served; failure != nil {
			s.deps.Log.Warn("the way to the model ended early", "session", s.fixed.ID, "error", failure)
		}
		return err
	})
	p := provider{
		sentinels:   map[string]string{name: proxy.Sentinel(name)},
		logins:      make(map[string]string),
		certificate: proxy.CACertificate(),
		environment: s.deps.Config.GitHub.environment(proxy.Sentinel(mitm.GitHub)),
	}
	if modes[name] == mitm.KindBearer {
		p.logins[name] = mitm.AccountName(account)
	}
	return p, nil
}

// modelProxyConfig returns the configuration of the proxy to a provider, if the agent uses
// one, and to GitHub, if config.json has it. The parts that serveProvider adds are missing:
// the budget, the pause and the activity.
func (s *Session) modelProxyConfig(provider string, credentials Credentials, log *audit.Log) mitm.Config {
	c := s.deps.Config
	var providers []string
	if provider != "" {
		providers = append(providers, provider)
	}
	if c.GitHub != nil {
		credentials, providers = &withToken{Credentials: credentials, github: c.GitHub}, append(providers, mitm.GitHub)
	}
	return mitm.Config{
		Session:     s.fixed.ID,
		Providers:   providers,
		Table:       c.Providers,
		Credentials: credentials.Credential,
		Held:        c.Credentials.Held(),
		Refused:     credentials.Refused,
		Upstreams:   c.upstreamsOf(providers),
		UpstreamCAs: c.UpstreamCAs,
		Audit:       s.reportOutcomes(egress.Append(log)),
		Note:        s.reportOutcomes(egress.Post(log)),
		Identity:    s.identity,
		Ask:         s.askRequest,
		Domains:     provider != "",
		Log:         s.deps.Log,
	}
}

// keepIdentity keeps in the kernel's keyring what another multiplexer needs to serve this
// agent if this multiplexer is killed. If that fails, the agent is started anew when its
// session is resumed after a kill.
func (s *Session) keepIdentity(stack *teardown, proxy *mitm.Proxy) {
	identity, err := proxy.Identity()
	if err == nil {
		err = stored.KeepSecret(s.layout.Run, identity)
	}
	if err != nil {
		s.deps.Log.Warn("the agent cannot be taken back if this multiplexer is killed", "session", s.fixed.ID, "error", err)
		return
	}
	stack.push("take back the kernel's key", func(context.Context) error { stored.DropSecret(s.layout.Run); return nil })
}

// table returns the provider table: the configured one, or the built-in one.
func (c *Config) table() []mitm.Provider {
	if c.Providers != nil {
		return c.Providers
	}
	return mitm.Providers()
}

// upstreamsOf returns the configured addresses that requests for providers' hosts go to
// instead.
func (c *Config) upstreamsOf(providers []string) map[string]*url.URL {
	all := make(map[string]*url.URL)
	for _, p := range c.table() {
		if !slices.Contains(providers, p.Name) {
			continue
		}
		for _, h := range p.Hosts {
			if u := c.Upstreams[h.Name]; u != nil {
				all[h.Name] = u
			}
		}
	}
	return all
}

// tabNotice returns what an agent's tab says all the time: the configured notice or,
// without one, which providers' requests go to another address than the agent believes.
func (c *Config) tabNotice(a agent.Adapter) string {
	if c.Notice != "" {
		return c.Notice
	}
	var moved []string
	for _, p := range c.table() {
		if !slices.Contains(a.Providers, p.Name) {
			continue
		}
		for _, h := range p.Hosts {
			to := h.BaseURL
			if u := c.Upstreams[h.Name]; u != nil {
				to = u.String()
			}
			if at := p.Name + " is at " + to; to != "" && !slices.Contains(moved, at) {
				moved = append(moved, at)
			}
		}
	}
	return strings.Join(moved, ", ")
}

// chooseProvider returns the first of the agent's providers that the person has a
// credential for, and the account that a login belongs to. The agent can reach that
// provider and no other.
func (s *Session) chooseProvider(ctx context.Context, c Credentials) (name, account string, err error) {
	var lacks error // why there is no credential for the preferred provider
	for _, name := range s.preferred() {
		cred, err := c.Credential(ctx, name)
		if err == nil {
			return name, cred.Account, nil
		}
		if lacks == nil {
			lacks = err
		}
	}
	return "", "", fmt.Errorf("open the way to the model: %w", lacks)
}

// preferred returns the agent's providers, the one first that the configured model names.
func (s *Session) preferred() []string {
	named, _, _ := strings.Cut(s.deps.Config.Models[s.adapter.Name], "/")
	if s.adapter.Place == agent.InProcess && slices.Contains(s.adapter.Providers, named) {
		return []string{named}
	}
	return s.adapter.Providers
}

// providerActivity counts the agent's model requests and tells the person of trouble.
func (s *Session) providerActivity(a mitm.Activity) {
	switch a.Kind {
	case mitm.RequestStarted:
		s.count(func(t *tally) { t.requests++ })
	case mitm.RequestEnded:
		s.count(func(t *tally) { t.requests-- })
		s.settleRequest(a)
	case mitm.KeyLeaked:
		s.notice(true, "the provider sent the real key back; it was masked, and the session is paused until you approve that it goes on")
	case mitm.AcceptFailed:
		s.notice(true, fmt.Sprintf("the agent cannot reach its model for now: %s; this is tried again", a.Text))
	case mitm.LoginNeeded:
		s.notice(true, a.Text)
	case mitm.RequestRefused:
		s.settleRequest(a)
	case mitm.AuditFailed:
		// auditState tells the person; a notice for each refused request would hide
		// more important ones.
	}
}
