package broker

import (
	"context"
	"fmt"
	"net/url"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// provider is what an agent needs to know of its model provider: fake keys and
// the certificate under which the proxy answers.
type provider struct {
	sentinels   map[string]string // by provider
	certificate []byte            // PEM; nil for an agent that talks to no model
}

// serveProvider opens the agent's way to its model: the MITM proxy on a socket
// of its own. An agent that talks to no model, such as a plain shell, gets no way
// out to one.
func (s *session) serveProvider(ctx context.Context, stack *teardown, log *audit.Log) (provider, error) {
	if len(s.adapter.Providers) == 0 {
		return provider{}, nil
	}
	c := s.broker.config
	name, err := s.chooseProvider(ctx)
	if err != nil {
		return provider{}, err
	}
	proxy, err := mitm.New(mitm.Config{
		Session:     string(s.fixed.ID),
		Providers:   []string{name},
		Credentials: c.Credentials,
		Upstreams:   upstreamsOf(name, c.Upstreams),
		UpstreamCAs: c.UpstreamCAs,
		Audit:       egress.Append(log),
		Activity:    s.providerActivity,
		Log:         s.broker.log,
	})
	if err != nil {
		return provider{}, fmt.Errorf("open the way to the model: %w", err)
	}
	listener, err := s.listen(s.layout.proxySocket())
	if err != nil {
		return provider{}, err
	}
	served := make(chan error, 1)
	go func() { served <- proxy.Serve(listener) }()
	stack.push("close the way to the model", func(ctx context.Context) error {
		err := proxy.Close(ctx)
		if failure := <-served; failure != nil {
			s.broker.log.Warn("the way to the model ended early", "session", s.fixed.ID, "error", failure)
		}
		return err
	})
	return provider{
		sentinels:   map[string]string{name: proxy.Sentinel(name)},
		certificate: proxy.CACertificate(),
	}, nil
}

// upstreamsOf keeps of all the hosts that stand for others those of one provider.
func upstreamsOf(provider string, all map[string]*url.URL) map[string]*url.URL {
	kept := make(map[string]*url.URL)
	for _, p := range mitm.Providers() {
		for _, h := range p.Hosts {
			if to := all[h.Name]; to != nil && p.Name == provider {
				kept[h.Name] = to
			}
		}
	}
	return kept
}

// chooseProvider picks the first of the agent's providers that lets the person
// in. An agent is let out to that one and to no other.
func (s *session) chooseProvider(ctx context.Context) (string, error) {
	var lacks error // of the one it prefers
	for _, name := range s.adapter.Providers {
		_, err := s.broker.config.Credentials(ctx, name)
		if err == nil {
			return name, nil
		}
		if lacks == nil {
			lacks = err
		}
	}
	return "", fmt.Errorf("open the way to the model: %w", lacks)
}

// providerActivity follows what the agent asks of its model.
func (s *session) providerActivity(a mitm.Activity) {
	switch a.Kind {
	case mitm.RequestStarted:
		s.count(func(t *tally) { t.requests++ })
	case mitm.RequestEnded:
		s.count(func(t *tally) { t.requests-- })
	case mitm.KeyLeaked:
		s.notice(true, "the provider sent the real key back; it was masked")
	case mitm.LoginNeeded:
		s.notice(true, a.Text)
	case mitm.AuditFailed, mitm.RequestRefused:
		// The audit speaks for itself, in auditState and in its records; a tab full
		// of refusals would only hide what matters.
	}
}
