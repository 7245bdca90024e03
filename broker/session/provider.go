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
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Credentials are the real keys and logins of the person, for all sessions.
type Credentials interface {
	// Credential returns what lets requests to a provider in. An error may have a
	// Hint, which tells the person how to get one.
	Credential(ctx context.Context, provider string) (mitm.Credential, error)
	// Refused is told that a provider has refused a credential; true means that
	// there is another one now.
	Refused(ctx context.Context, provider string, used mitm.Credential) bool
	// Modes says which kind of credential each provider has now.
	Modes() map[string]string
	// Held are all credentials that are there now, for those who must keep them
	// from the agent.
	Held() []mitm.Credential
	// APIKeys are the credentials that are keys, for agents that know no logins.
	APIKeys() egress.Keys
}

// provider is what an agent needs to know of its model provider: fake keys and
// the certificate under which the proxy answers.
type provider struct {
	sentinels   map[string]string // by provider
	logins      map[string]string // providers whose sentinel stands for a login's token, and the name of its account for the agent
	certificate []byte            // PEM; nil for an agent that talks to no model
}

// serveProvider opens the agent's way to its model: the MITM proxy on a socket
// of its own. An agent that talks to no model, such as a plain shell, gets no way
// out to one.
func (s *Session) serveProvider(ctx context.Context, stack *teardown, log *audit.Log) (provider, error) {
	if len(s.adapter.Providers) == 0 {
		return provider{}, nil
	}
	credentials := s.deps.Config.Credentials
	if s.adapter.KeysOnly {
		credentials = credentials.APIKeys()
	}
	name, account, err := s.chooseProvider(ctx, credentials)
	if err != nil {
		return provider{}, err
	}
	modes := credentials.Modes()
	if err := s.openAccount(stack); err != nil {
		return provider{}, err
	}
	config := s.modelProxyConfig(name, credentials, log)
	config.Modes = modes
	config.Budget = s.afford
	held := newPause(ctx, s, stack, log)
	config.Admit = held.admit
	config.Activity = func(a mitm.Activity) {
		if a.Kind == mitm.KeyLeaked {
			held.begin(a)
		}
		s.providerActivity(a)
	}
	proxy, err := mitm.New(config)
	if err != nil {
		return provider{}, fmt.Errorf("open the way to the model: %w", err)
	}
	s.remember(stack, proxy)
	listener, err := s.listen(s.layout.ProxySocket())
	if err != nil {
		return provider{}, err
	}
	s.mu.Lock()
	s.modelProxy = proxy
	s.mu.Unlock()
	served := s.letIn("models", proxy.Serve, listener)
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
	}
	if modes[name] == mitm.KindBearer {
		p.logins[name] = mitm.AccountName(account)
	}
	return p, nil
}

// modelProxyConfig is the configuration of the proxy to one provider, but for what
// bounds its use.
func (s *Session) modelProxyConfig(provider string, credentials Credentials, log *audit.Log) mitm.Config {
	c := s.deps.Config
	return mitm.Config{
		Session:     s.fixed.ID,
		Providers:   []string{provider},
		Table:       c.Providers,
		Credentials: credentials.Credential,
		Held:        c.Credentials.Held(),
		Refused:     credentials.Refused,
		Upstreams:   c.upstreamsOf(provider),
		UpstreamCAs: c.UpstreamCAs,
		Audit:       s.tellOutcomes(egress.Append(log)),
		Note:        s.tellOutcomes(egress.Post(log)),
		Identity:    s.identity,
		Ask:         s.askRequest,
		Domains:     true,
		Log:         s.deps.Log,
	}
}

// remember leaves with the kernel what another multiplexer needs to serve this
// agent, should this one be killed. Where that cannot be done, an agent that was
// left running is started anew when its session is resumed.
func (s *Session) remember(stack *teardown, proxy *mitm.Proxy) {
	identity, err := proxy.Identity()
	if err == nil {
		err = stored.KeepSecret(s.layout.Run, identity)
	}
	if err != nil {
		s.deps.Log.Warn("the agent cannot be taken back should this multiplexer be killed", "session", s.fixed.ID, "error", err)
		return
	}
	stack.push("take back the kernel's key", func(context.Context) error { stored.DropSecret(s.layout.Run); return nil })
}

// table is the provider table in force.
func (c *Config) table() []mitm.Provider {
	if c.Providers != nil {
		return c.Providers
	}
	return mitm.Providers()
}

// upstreamsOf lists where requests for a provider's hosts go instead.
func (c *Config) upstreamsOf(provider string) map[string]*url.URL {
	all := make(map[string]*url.URL)
	for _, p := range c.table() {
		if p.Name != provider {
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

// standing is what a tab of an agent says all the time: the configured notice
// or, without one, which requests do not go where the agent believes.
func (c *Config) standing(a agent.Adapter) string {
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

// chooseProvider picks the first of the agent's providers that lets the person
// in, and names the account that the login belongs to. An agent is let out to
// that one and to no other.
func (s *Session) chooseProvider(ctx context.Context, c Credentials) (name, account string, err error) {
	var lacks error // of the one it prefers
	for _, name := range s.adapter.Providers {
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

// providerActivity follows what the agent asks of its model.
func (s *Session) providerActivity(a mitm.Activity) {
	switch a.Kind {
	case mitm.RequestStarted:
		s.count(func(t *tally) { t.requests++ })
	case mitm.RequestEnded:
		s.count(func(t *tally) { t.requests-- })
		s.spend(a)
	case mitm.KeyLeaked:
		s.notice(true, "the provider sent the real key back; it was masked, and the session is paused until you approve that it goes on")
	case mitm.AcceptFailed:
		s.notice(true, fmt.Sprintf("the agent cannot reach its model for now: %s; this is tried again", a.Text))
	case mitm.LoginNeeded:
		s.notice(true, a.Text)
	case mitm.RequestRefused:
		s.spend(a)
	case mitm.AuditFailed:
		// The audit speaks for itself, in auditState and in its records; a tab full
		// of refusals would only hide what matters.
	}
}
