package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// domainHold is how long an agent may send requests to a domain that the person has approved.
const domainHold = time.Hour

// openedDomain describes a domain to the agent.
type openedDomain struct {
	Domain string    `json:"domain"`
	Status string    `json:"status,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	How    string    `json:"message,omitempty"`
}

// domainTools returns the tools with which an agent asks for access to one more host, removes that
// access, and lists the hosts that it can reach. An agent without a model provider gets none.
func (s *Session) domainTools() []mcpproxy.Builtin {
	if len(s.adapter.Providers) == 0 {
		return nil
	}
	// The policy compares these schemas exactly, so the tool's description describes the arguments.
	const domain, name = `"domain":{"type":"string"}`, " The domain is a public host name, such as docs.example.org, without scheme, port or path."
	return []mcpproxy.Builtin{
		{
			Server: policy.ProxyServer, Name: "add_proxy_domain",
			Description: "Ask the person to let you read from one more host over HTTPS for an hour. GET and HEAD requests are allowed then; every other request asks the person again. The justification says why you need it." + name,
			InputSchema: json.RawMessage(`{"type":"object","properties":{` + domain +
				`,"justification":{"type":"string"}},"required":["domain","justification"],"additionalProperties":false}`),
			Check: s.checkDomain, Run: s.addDomain,
		},
		{
			Server: policy.ProxyServer, Name: "remove_proxy_domain",
			Description: "Remove a host that was added with add_proxy_domain." + name,
			InputSchema: json.RawMessage(`{"type":"object","properties":{` + domain + `},"required":["domain"],"additionalProperties":false}`),
			Run:         s.removeDomain,
		},
		{
			Server: policy.ProxyServer, Name: "list_proxy_domains",
			Description: "List the hosts that you can reach.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			Run:         s.listDomains,
		},
	}
}

// egressProxy returns the model proxy, which exists once the session has started.
func (s *Session) egressProxy() (*mitm.Proxy, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.modelProxy == nil {
		return nil, errors.New("the session has no way out yet")
	}
	return s.modelProxy, nil
}

// domainCall returns the domain in a call's canonical arguments, and the model proxy.
func (s *Session) domainCall(arguments json.RawMessage) (domain string, proxy *mitm.Proxy, err error) {
	var args struct {
		Domain string `json:"domain"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return "", nil, fmt.Errorf("read the domain: %w", err)
	}
	proxy, err = s.egressProxy()
	return args.Domain, proxy, err
}

// checkDomain refuses domains that the person must not be asked about.
func (s *Session) checkDomain(arguments json.RawMessage) error {
	domain, proxy, err := s.domainCall(arguments)
	if err != nil {
		return err
	}
	return proxy.CheckDomain(domain)
}

func (s *Session) addDomain(_ context.Context, arguments json.RawMessage) (any, error) {
	domain, proxy, err := s.domainCall(arguments)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(domainHold)
	if err := proxy.AddDomain(domain, until); err != nil {
		return nil, err
	}
	s.notice(false, fmt.Sprintf("%s may read from %s until %s", s.fixed.Agent, domain, until.Format(time.TimeOnly)))
	return openedDomain{Domain: domain, Status: "added", Until: until.UTC(), How: "use it by HTTPS through the proxy of your environment"}, nil
}

func (s *Session) removeDomain(_ context.Context, arguments json.RawMessage) (any, error) {
	domain, proxy, err := s.domainCall(arguments)
	if err != nil {
		return nil, err
	}
	status := "not_found"
	if proxy.RemoveDomain(domain) {
		status = "removed"
	}
	return openedDomain{Domain: domain, Status: status}, nil
}

func (s *Session) listDomains(context.Context, json.RawMessage) (any, error) {
	proxy, err := s.egressProxy()
	if err != nil {
		return nil, err
	}
	out := struct {
		Providers []string       `json:"providers"`
		Dynamic   []openedDomain `json:"dynamic"`
	}{Providers: proxy.Hosts(), Dynamic: []openedDomain{}}
	for _, d := range proxy.Domains() {
		out.Dynamic = append(out.Dynamic, openedDomain{Domain: d.Name, Until: d.Until.UTC()})
	}
	return out, nil
}

// GitHub is the GitHub server whose API agents may use with the person's token. They may
// read by themselves; the person is asked about everything else.
type GitHub struct {
	Host  string // as people write it: "github.com"
	Token secretref.Reference
}

// String names the token for the person.
func (g *GitHub) String() string { return fmt.Sprintf("your token of %s, from %s", g.Host, g.Token) }

// environment returns the variables that give gh the server and its sentinel.
func (g *GitHub) environment(sentinel string) []string {
	if g == nil {
		return nil
	}
	return []string{"GH_HOST=" + g.Host, "GH_TOKEN=" + sentinel, "GH_ENTERPRISE_TOKEN=" + sentinel}
}

// prompt returns the part of the agent's prompt about the server.
func (g *GitHub) prompt() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("\n\ngh, and other programs with the token in GH_TOKEN, can use the API of %s. Reading passes at once; every other request waits for the person and is sent as it is once they approve it.", g.Host)
}

// withToken adds the token for GitHub's API to other credentials. It resolves the token when that is
// first needed.
type withToken struct {
	Credentials
	github *GitHub

	mu    sync.Mutex
	token string
}

// Credential returns the token, or another credential.
func (w *withToken) Credential(ctx context.Context, provider string) (mitm.Credential, error) {
	if provider != mitm.GitHub {
		return w.Credentials.Credential(ctx, provider)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == "" {
		token, err := w.github.Token.Resolve(ctx)
		if err != nil {
			return mitm.Credential{}, fault.New("log in there, or fix gh in config.json", "find the token of %s: %w", w.github.Host, err)
		}
		w.token = token
	}
	return mitm.Credential{Kind: mitm.KindAPIKey, Value: w.token}, nil
}

// Refused forgets a token that the server has refused, so that the next request resolves it again. It
// returns false, so that this request is not repeated: the person may have approved it only once.
func (w *withToken) Refused(ctx context.Context, provider string, used mitm.Credential) bool {
	if provider != mitm.GitHub {
		return w.Credentials.Refused(ctx, provider, used)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == used.Value {
		w.token = ""
	}
	return false
}
