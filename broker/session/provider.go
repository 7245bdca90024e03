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
	// Credential returns the credential for requests to a provider. An error's hint tells the person
	// how to get one.
	Credential(ctx context.Context, provider string) (mitm.Credential, error)
	// Refused must be called when a provider has refused a credential. It reports whether there is
	// another one now.
	Refused(ctx context.Context, provider string, used mitm.Credential) bool
	// Modes returns the kind of credential that each provider has now.
	Modes() map[string]string
	// Held returns all present credentials, for the code that masks them in what the agent gets.
	Held() []mitm.Credential
	// APIKeys returns the credentials that are keys, for agents that cannot use logins.
	APIKeys() egress.Keys
}

// Opener is what a session gets from the terminal in which it was opened. It is never stored.
type Opener struct {
	Keys        egress.Keys // from the terminal's environment; they replace those of this process
	Environment []string    // for a shell of this machine; nil: that of this process
}

// AgentKey says where the API key of an agent's sessions is, and whose key it is.
type AgentKey struct {
	Provider  string
	Reference secretref.Reference
}

// withKeys returns d, or a copy for a session with its own keys. If AgentKeys has a key of the agent,
// withKeys resolves it now, and the session gets it as its only credential. Otherwise the opener's keys
// replace those of this process.
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
		return nil, fault.New("correct agentApiKeys in config.json, or what it refers to", "find the API key of %s: %w", name, err)
	}
	config.Credentials = egress.Keys{given.Provider: key}
	config.Secrets = append(slices.Clone(config.Secrets), key)
	return &own, nil
}

// provider is what an agent needs to reach its model provider: sentinels and the certificate of the
// proxy's authority.
type provider struct {
	sentinels   map[string]string // by provider
	logins      map[string]string // account name by provider, for sentinels that stand in for a login's token
	certificate []byte            // PEM; nil for an agent without a model proxy
	environment []string          // variables for its programs
}

// hasWayOut reports whether the agent has a MITM proxy, to its model, GitHub or package registries.
func (s *Session) hasWayOut() bool {
	return len(s.adapter.Providers) > 0 || s.deps.Config.GitHub != nil || s.deps.Config.Packages != nil
}

// serveProvider serves the agent's MITM proxy, by which it reaches its model, GitHub's API and package
// registries. An agent without a model, such as a plain shell, gets the proxy only for the latter two.
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

// modelProxyConfig returns the configuration of the proxy to a provider, if that is not empty, and to
// GitHub, if config.json has it. serveProvider adds the rest: budget, pause, activity and registries.
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

// keepIdentity stores in the kernel's keyring what another multiplexer needs to serve this agent if
// this one is killed. Without it, resuming the session starts the agent again.
func (s *Session) keepIdentity(stack *teardown, proxy *mitm.Proxy) {
	identity, err := proxy.Identity()
	if err == nil {
		err = stored.KeepSecret(s.layout.Run, identity)
	}
	if err != nil {
		s.deps.Log.Warn("store the proxy's identity: the agent cannot be taken back if this multiplexer is killed", "session", s.fixed.ID, "error", err)
		return
	}
	stack.push("remove the identity from the kernel's keyring", func(context.Context) error { stored.DropSecret(s.layout.Run); return nil })
}

// table returns the provider table: the configured one, or the built-in one.
func (c *Config) table() []mitm.Provider {
	if c.Providers != nil {
		return c.Providers
	}
	return mitm.Providers()
}

// keyVariables returns the variables in which programs look for a provider's API key, by provider. Those
// of a provider of the built-in table are its own, even if the configuration has the host look elsewhere.
func (c *Config) keyVariables() map[string][]string {
	all := make(map[string][]string)
	for _, p := range slices.Concat(c.table(), mitm.Providers()) {
		all[p.Name] = p.KeyVariables
	}
	return all
}

// upstreamsOf returns the configured addresses to which requests for providers' hosts go instead, by
// host.
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

// tabNotice returns what an agent's tab shows all the time: the configured notice or, without one, the
// providers whose requests go to another address than the agent believes.
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

// chooseProvider returns the first of the agent's providers for which the person has a credential, and
// the account if that is a login. The agent can reach only that provider.
func (s *Session) chooseProvider(ctx context.Context, c Credentials) (name, account string, err error) {
	var lacks error // why there is no credential for the first provider
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

// preferred returns the providers to try, in order: the one that the configured model of the built-in
// agent names, or all of the agent's.
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
		s.notice(true, "the provider sent the real key back; it was masked, and the session is paused until you approve that it continues")
	case mitm.AcceptFailed:
		s.notice(true, fmt.Sprintf("the agent cannot reach its model for now: %s; this is retried", a.Text))
	case mitm.LoginNeeded:
		s.notice(true, a.Text)
	case mitm.RequestRefused:
		s.settleRequest(a)
	}
}
