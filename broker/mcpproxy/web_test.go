package mcpproxy

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/outbound"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// webPolicy lets agents fetch from two hosts; everything else asks.
const webPolicy = `{"generatedAt":"2026-01-01T00:00:00Z","constitutionHash":"","inputHash":"","rules":[
 {"name":"allow-docs","description":"d","principle":"p","if":{"server":["fetch"],"tool":["http_fetch"],"domains":{"roles":["fetch-url"],"allowed":["example.com","http://plain.example.com"]}},"then":"allow","reason":"docs"},
 {"name":"escalate-web","description":"d","principle":"p","if":{"server":["fetch"],"tool":["http_fetch"],"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"escalate","reason":"a public page"}]}`

// internet is what the host would reach: names, and two servers for all of them.
type internet struct {
	mu     sync.Mutex
	dialed []string
	asked  []string
}

func (n *internet) note(list *[]string, what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*list = append(*list, what)
}

// newInternet starts the servers and returns the client that reaches them.
func newInternet(t *testing.T) (*internet, outbound.Client) {
	t.Helper()
	n := &internet{}
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.note(&n.asked, r.Host+r.URL.Path)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<h1>Welcome to %s</h1><p>the token is tell-nobody-0123456789</p>", r.Host)
	})
	plain, secure := httptest.NewServer(pages), httptest.NewTLSServer(pages)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	return n, outbound.Client{Roots: roots, Dialer: netguard.Dialer{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "example.com", "plain.example.com", "other.example.com":
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			case "inside.example.com":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			return nil, errors.New("no such host")
		},
		Connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			n.note(&n.dialed, to.String())
			where := plain.Listener.Addr().String()
			if to.Port() == 443 {
				where = secure.Listener.Addr().String()
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", where)
		},
	}}
}

// withFetch puts our fetch server, in the real sandbox without a network,
// behind the proxy.
func withFetch(t *testing.T, web outbound.Client) func(*Config) {
	t.Helper()
	installed, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := installed.Argv("srt")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		base := filepath.Dir(c.Servers[0].Env[stubVar])
		work := filepath.Join(base, "work")
		host, err := sandbox.New(t.Context(), sandbox.Options{Dir: work, Runtime: runtime, UserHome: base, StateHome: filepath.Join(base, "closed")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = host.Close() })
		compiled, err := policy.ParseCompiled("policy", []byte(webPolicy))
		if err != nil {
			t.Fatal(err)
		}
		_, annotations := policy.Default()
		if c.Engine, err = policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: work, Mount: "/workspace", Home: base}); err != nil {
			t.Fatal(err)
		}
		c.Sandbox, c.Web = host, web
		c.Servers = []sandbox.Spec{{
			Name: "fetch", Argv: []string{self}, Env: childEnv(map[string]string{fetchVar: "1"}),
			Sandbox: servers.Sandbox{Network: servers.Network{Judged: true}},
		}}
	}
}

func TestFetchJudgesEveryHop(t *testing.T) {
	n, web := newInternet(t)
	r := newHarness(t, withFetch(t, web))
	a := r.agent()
	for i, c := range []struct {
		url    string
		want   string // in the answer
		failed bool
		asked  int // requests that left the machine
	}{
		{"https://example.com/docs", "# Welcome to example.com", false, 1},
		{"https://example.com/go?to=/there", "# Welcome to example.com", false, 2},
		{"https://example.com/go?to=https://other.example.com/", "rule escalate-web wants a person", true, 1},
		{"http://plain.example.com/go?to=http://169.254.169.254/latest", "default-deny", true, 1},
		{"http://plain.example.com/go?to=http://localhost:8080/", "default-deny", true, 1},
		{"http://plain.example.com/go?to=https://example.com/", "# Welcome to example.com", false, 2},
		{"https://example.com/go?to=file:///etc/passwd", "neither http nor https", true, 1},
	} {
		before := len(n.asked)
		m := a.call(fmt.Sprint(i+1), "fetch__http_fetch", fmt.Sprintf(`{"url":%q}`, c.url))
		if m.isError() != c.failed || !strings.Contains(m.text(), c.want) {
			t.Errorf("%s: %s", c.url, m.Result)
		}
		if strings.Contains(string(m.Result), "tell-nobody") {
			t.Errorf("%s: a secret came back", c.url)
		}
		if got := len(n.asked) - before; got != c.asked {
			t.Errorf("%s: %d requests, want %d", c.url, got, c.asked)
		}
	}
	for _, to := range n.dialed {
		if !strings.HasPrefix(to, "93.184.216.34:") {
			t.Errorf("connected to %s", to)
		}
	}
	// Every redirect has a record of its own, with what it was and why.
	hops := map[string]audit.Decision{}
	for _, d := range r.decisions() {
		if strings.HasPrefix(d.Reason, "redirect 1") {
			var args struct{ URL string }
			if err := json.Unmarshal(d.Arguments, &args); err != nil {
				t.Fatal(err)
			}
			hops[args.URL] = d.Decision
		}
		if d.Decision == audit.Allow && !d.Sandboxed {
			t.Errorf("not sandboxed: %s", d.Raw)
		}
	}
	for url, want := range map[string]audit.Decision{
		"https://example.com/there": audit.Allow, "https://other.example.com": audit.Deny, "http://169.254.169.254/latest": audit.Deny,
	} {
		if hops[url] != want {
			t.Errorf("the redirect to %s is recorded as %q, want %q (%v)", url, hops[url], want, hops)
		}
	}
}

func TestAnApprovalCoversOneAddress(t *testing.T) {
	n, web := newInternet(t)
	r := newHarness(t, withFetch(t, web))
	a := r.agent()
	for i, c := range []struct {
		url, want string
		failed    bool
	}{
		{"https://other.example.com/?to=https://example.com/", "Welcome to example.com", false}, // which needs nobody
		{"http://other.example.com/page", "Welcome to other.example.com", false},
		{"http://other.example.com/?to=/page", "fetch that address by a call of its own", true},
		{"http://inside.example.com/", "private address", true},
	} {
		t.Run(c.url, func(t *testing.T) {
			id := fmt.Sprint(i + 1)
			a.send(callLine(id, "fetch__http_fetch", fmt.Sprintf(`{"url":%q,"headers":{"X-Note":"n"}}`, c.url)))
			item := r.pending(1)[0]
			if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
				t.Fatal(won, err)
			}
			if m := a.answerTo(id); m.isError() != c.failed || !strings.Contains(m.text(), c.want) {
				t.Errorf("%s: %s", c.url, m.Result)
			}
		})
	}
	if slices.ContainsFunc(n.dialed, func(to string) bool { return strings.HasPrefix(to, "10.") }) {
		t.Errorf("connected to %v", n.dialed)
	}
}

// A redirect whose record cannot be written is not followed.
func TestNoHopWithoutARecord(t *testing.T) {
	n, web := newInternet(t)
	var r *harness
	dial := web.Dialer.Connect
	web.Dialer.Connect = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		r.log.set(errors.New("no space left on device"))
		return dial(ctx, to)
	}
	r = newHarness(t, withFetch(t, web))
	m := r.agent().call("1", "fetch__http_fetch", `{"url":"https://example.com/go?to=/there"}`)
	r.log.set(nil)
	if !m.isError() || !strings.Contains(m.text(), "could not be recorded") || len(n.asked) != 1 {
		t.Errorf("%s after %v", m.Result, n.asked)
	}
}

// Another server that asks for web requests gets none: it has no call that
// stands for one.
func TestOnlyJudgedServersGetTheWeb(t *testing.T) {
	sc := &serverConn{webs: map[string]*webCall{}}
	for _, params := range []string{`{"call":"ic-1"}`, `{}`, `7`, ``} {
		t.Run(params, func(t *testing.T) {
			if sc.startWeb(jsonrpc.Message{ID: json.RawMessage("1"), Params: json.RawMessage(params)}) {
				t.Errorf("%q was served", params)
			}
		})
	}
	taken := &webCall{taken: true}
	sc.webs[`"ic-1"`] = taken
	if sc.startWeb(jsonrpc.Message{ID: json.RawMessage("1"), Params: json.RawMessage(`{"call":"ic-1"}`)}) {
		t.Error("a request was made twice")
	}
}

// A person who allowed a host for a while allowed its redirects to itself too,
// and to no other host.
func TestAGrantedHostMayRedirectToItself(t *testing.T) {
	n, web := newInternet(t)
	s := grant.New(nil)
	fetching := withFetch(t, web)
	r := newHarness(t, func(c *Config) {
		fetching(c)
		c.Grants = s
	})
	a := r.agent()
	a.send(callLine("1", "fetch__http_fetch", `{"url":"http://other.example.com/a"}`))
	r.remember(s, grant.Host, time.Minute)
	if m := a.answerTo("1"); m.isError() {
		t.Fatal(m.text())
	}
	before := len(n.asked)
	if m := a.call("2", "fetch__http_fetch", `{"url":"http://other.example.com/go?to=/there"}`); m.isError() || len(n.asked) != before+2 {
		t.Errorf("to itself: %s", m.Result)
	}
	if m := a.call("3", "fetch__http_fetch", `{"url":"http://other.example.com/go?to=http://inside.example.com/"}`); !m.isError() || !strings.Contains(m.text(), "wants a person") {
		t.Errorf("to another host: %s", m.Result)
	}
	granted := 0
	for _, d := range r.decisions() {
		if d.Decision == audit.Granted {
			granted++
		}
	}
	if granted != 3 { // two calls and the redirect of the first
		t.Errorf("%d records of what was granted", granted)
	}
}
