package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// modelProxy opens a session's model proxy, with that real key and a server in place of
// Anthropic, and returns a client of the proxy.
func modelProxy(t *testing.T, s *Session, log *audit.Log, key string, answer http.HandlerFunc) (provider, *http.Client) {
	t.Helper()
	upstream := httptest.NewTLSServer(answer)
	t.Cleanup(upstream.Close)
	to, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := s.deps.Config
	c.Credentials = egress.Keys{"anthropic": key}
	c.Upstreams = map[string]*url.URL{"api.anthropic.com": to}
	c.UpstreamCAs = x509.NewCertPool()
	c.UpstreamCAs.AddCert(upstream.Certificate())
	home, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s.layout, s.owner = stored.LayoutOf(home, "0123456789ab-0000-0000-0000-000000000000"), stored.ContainerUser()
	s.adapter = agent.Adapter{Name: "claude-code", Providers: []string{"anthropic"}}
	if err := s.layout.Make(s.owner); err != nil {
		t.Fatal(err)
	}
	stack := &teardown{limit: time.Minute}
	p, err := s.serveProvider(t.Context(), stack, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.run(context.Background()); err != nil {
			t.Error(err)
		}
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.certificate)
	return p, &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy"}),
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", s.layout.ProxySocket())
		},
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}}
}

// reply is what an agent sees of an answer.
type reply struct {
	status      int
	after, stop string // Retry-After, X-Should-Retry
	body        string
}

// askFor sends a request whose answer may have up to that many tokens.
func askFor(t *testing.T, c *http.Client, p provider, most int) reply {
	t.Helper()
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":%d,"messages":[]}`, most)
	req, err := http.NewRequest(http.MethodPost, "https://api.anthropic.com/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return reply{}
	}
	req.Header.Set("X-Api-Key", p.sentinels["anthropic"])
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return reply{res.StatusCode, res.Header.Get("Retry-After"), res.Header.Get("X-Should-Retry"), string(text)}
}

// awaitUsed waits until that many tokens of answers are counted.
func awaitUsed(t *testing.T, s *Session, out int64) Usage {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var last Budget
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		if last, _ = s.Budget(); last.Used.Out == out {
			return last.Used
		}
	}
	t.Fatalf("used %+v, want %d tokens out", last.Used, out)
	return Usage{}
}

// Simultaneous requests cannot each spend the whole rest of the budget. An agent that
// sends one request after the other can use its budget to the end.
func TestParallelRequestsKeepToTheBudget(t *testing.T) {
	s, log, _ := askingSession(t)
	prices, err := budget.BuiltInPrices()
	if err != nil {
		t.Fatal(err)
	}
	// A thousand tokens of an answer cost $0.015.
	s.deps.Config.Prices, s.deps.Config.Limits = prices, budget.Limits{Cost: budget.USD(0.05)}
	arrived, answered := make(chan struct{}, 16), make(chan struct{})
	p, client := modelProxy(t, s, log, "sk-ant-api03-the-real-key-0123456789", func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-answered
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"claude-sonnet-4-5","usage":{"input_tokens":1,"output_tokens":1000}}`)
	})
	const sent, fit = 12, 3
	replies := make(chan reply, sent)
	for range sent {
		go func() { replies <- askFor(t, client, p, 1000) }()
	}
	for range sent - fit {
		r := <-replies
		if r.status != 429 || r.after != "10" || r.stop != "" || !strings.Contains(r.body, "rate_limit_error") ||
			!strings.Contains(r.body, "requests under way") || !strings.Contains(r.body, "/budget +5") {
			t.Errorf("a request too many: %+v", r)
		}
	}
	close(answered)
	for range fit {
		if r := <-replies; r.status != 200 {
			t.Errorf("a request that fits: %+v", r)
		}
	}
	if u := awaitUsed(t, s, fit*1000); u.CostUSD > 0.05 || u.Requests != fit {
		t.Errorf("used %+v", u)
	}
	if r := askFor(t, client, p, 64_000); r.status != 200 { // nobody knows that it will be short
		t.Errorf("a lone request: %+v", r)
	}
	awaitUsed(t, s, (fit+1)*1000)
	if r := askFor(t, client, p, 1); r.status != 429 || r.stop != "false" || !strings.Contains(r.body, "is spent") {
		t.Errorf("after the end: %+v", r)
	}
	if n := len(arrived); n != fit+1 {
		t.Errorf("the provider saw %d requests", n)
	}
}

// A request that is refused after it was admitted costs nothing.
func TestRequestThatIsNotSentIsNotCounted(t *testing.T) {
	s, log, _ := askingSession(t)
	s.deps.Config.Limits = budget.Limits{Tokens: 5000, Requests: 2}
	p, client := modelProxy(t, s, log, "short", func(http.ResponseWriter, *http.Request) { t.Error("the provider was asked") })
	for range 4 {
		if r := askFor(t, client, p, 4000); r.status != 401 {
			t.Errorf("%+v", r)
		}
	}
	if b, _ := s.Budget(); b.Used.Requests != 0 {
		t.Errorf("used %+v", b.Used)
	}
}

// Of the events of a turn, those about the budget are the account's, whatever the agent says.
func TestEventsAboutTheBudgetAreTheAccounts(t *testing.T) {
	s := &Session{deps: testDeps(t, Config{}), idle: true}
	s.warnOfBudget(budget.Warning{Kind: budget.Unstored, Text: "the disk is full"})
	s.warnOfBudget(budget.Warning{Kind: budget.Nearly, Text: "most"})
	for n, c := range []struct {
		agents string
		end    TurnEnd
		want   string
	}{
		{
			`[{"kind":"agent_text","text":"x"},{"kind":"budget_warning","text":"mine"},{"kind":"a","Kind":"b","kind":"budget_exhausted"}]`,
			TurnAnswered, `[{"kind":"agent_text","text":"x"},{"kind":"budget_warning","text":"most"}]`,
		},
		{"", TurnAnswered, ""}, // it was told
		{`{"kind":"budget_warning"}`, TurnAnswered, ""},
		{"", TurnOverBudget, `[{"kind":"budget_exhausted","text":"the session's budget is used up"}]`},
	} {
		turn := Turn{Events: json.RawMessage(c.agents), End: c.end}
		if s.addBudgetEvents(&turn); string(turn.Events) != c.want {
			t.Errorf("turn %d: %s", n, turn.Events)
		}
	}
}
