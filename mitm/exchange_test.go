package mitm

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/body"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

func TestForwardedRequest(t *testing.T) {
	s := newHarness(t, nil)
	extra := "Anthropic-Version: 2023-06-01\r\nAnthropic-Beta: claude-code-20250219,files-api-2025-04-14,mcp-client-2025-04-04\r\n" +
		"Anthropic-Dangerous-Direct-Browser-Access: true\r\nX-Stainless-Lang: js\r\nX-Forwarded-For: 1.2.3.4\r\nX-HTTP-Method-Override: DELETE\r\n" +
		"TE: trailers\r\nAccept-Encoding: gzip, br\r\nUser-Agent: claude-cli/2 (external, cli)\r\nKeep-Alive: 5\r\nX-Original-URL: /v1/files\r\n"
	res, body := s.inTunnel("api.anthropic.com", s.message("Anthropic-Version: 2023-06-01\r\n", extra))
	if res == nil || res.StatusCode != 200 || body != `{"ok":true}` {
		t.Fatalf("answer %+v %q", res, body)
	}
	got := map[string]string{}
	for name, values := range s.requests[0].Header {
		got[name] = strings.Join(values, "|")
	}
	want := map[string]string{
		"X-Api-Key": realKey, "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "claude-code-20250219", "X-Stainless-Lang": "js",
		"Accept-Encoding": "identity", "User-Agent": "claude-cli/2 (external, cli)", "Content-Type": "application/json", "Content-Length": "72",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the upstream's header (-want +got):\n%s", diff)
	}
	if s.requests[0].RequestURI != "/v1/messages?beta=true" {
		t.Errorf("the upstream saw %s", s.requests[0].RequestURI)
	}
	records := s.awaitRecords(2)
	if len(records) != 2 || records[0].Decision != Allow || records[0].Phase != PhaseRequest || records[1].Phase != PhaseResponse || records[1].Reason != ReasonDone {
		t.Errorf("records %+v", records)
	}
	if r := records[0]; r.Model != "m" || r.Key != KeySentinel || r.Path != "/v1/messages" {
		t.Errorf("the first record %+v", r)
	}
	if want := []string{"anthropic-beta:files-api-2025-04-14", "anthropic-beta:mcp-client-2025-04-04"}; !cmp.Equal(records[0].Stripped, want) {
		t.Errorf("stripped %v", records[0].Stripped)
	}
}

func TestEveryProviderTakesItsKeyItsWay(t *testing.T) {
	s := newHarness(t, nil)
	rows := []struct{ provider, host, path, header, upstream string }{
		{"openai", "api.openai.com", "/v1/responses", "Authorization", "Bearer " + realKey},
		{"openai", "api.openai.com", "/v1/chat/completions", "Authorization", "Bearer " + realKey},
		{"google", "generativelanguage.googleapis.com", "/v1beta/models/gemini-3-flash:generateContent", "X-Goog-Api-Key", realKey},
		{"google", "generativelanguage.googleapis.com", "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse", "X-Goog-Api-Key", realKey},
		{"openrouter", "openrouter.ai", "/api/v1/chat/completions", "Authorization", "Bearer " + realKey},
		{"anthropic", "api.anthropic.com", "/v1/messages/count_tokens?beta=true", "X-Api-Key", realKey},
	}
	tried := map[string]bool{}
	for _, c := range rows {
		tried[c.provider] = true
	}
	for _, p := range Providers() {
		if _, err := p.modeFor(KindAPIKey); err == nil && !tried[p.Name] {
			t.Errorf("no request to %s with a key is tried", p.Name)
		}
	}
	for _, c := range rows {
		t.Run(c.provider, func(t *testing.T) {
			res, body := s.inTunnel(c.host, s.withBody(c.host, c.path, c.header, c.provider, `{"model":"m"}`))
			if res == nil || res.StatusCode != 200 {
				t.Errorf("%s: answer %+v %s", c.path, res, body)
				return
			}
			last := s.requests[len(s.requests)-1]
			if last.RequestURI != c.path || last.Header.Get(c.header) != c.upstream {
				t.Errorf("%s: the upstream saw %s with %q", c.path, last.RequestURI, last.Header.Get(c.header))
			}
			if bad, _ := s.inTunnel(c.host, strings.Replace(s.withBody(c.host, c.path, c.header, c.provider, `{}`), c.header+": ", c.header+": x", 1)); bad == nil || bad.StatusCode != 403 {
				t.Errorf("%s: a wrong key got %+v", c.path, bad)
			}
		})
	}
}

func TestNoCredentialWhereNoneIsNeeded(t *testing.T) {
	s := newHarness(t, nil)
	res, _ := s.inTunnel("api.anthropic.com", "GET /api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n")
	if res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v", res)
	}
	if h := s.requests[0].Header; h.Get("X-Api-Key")+h.Get("Authorization") != "" {
		t.Errorf("a credential was injected: %v", h)
	}
}

// The real key is masked in answers to requests that it was not sent with.
func TestKeyInAnAnswerToAnother(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		c.Held = []Credential{{Kind: KindAPIKey, Value: realKey}, {Kind: KindAPIKey, Value: "sk-proj-of-another-provider"}}
	})
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, realKey+" sk-proj-of-another-provider")
	})
	res, body := s.inTunnel("api.anthropic.com", "GET /api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n")
	own := s.proxy.Sentinel("anthropic")
	if res == nil || body != own+" "+own {
		t.Errorf("answer %+v %s", res, body)
	}
	if r := s.awaitRecords(3)[1]; r.Reason != ReasonLeak {
		t.Errorf("record %+v", r)
	}
}

func TestBearerMode(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		c.Modes = map[string]string{"anthropic": KindBearer}
		c.Credentials = func(context.Context, string) (Credential, error) {
			return Credential{Kind: KindBearer, Value: realKey}, nil
		}
	})
	sentinel := s.proxy.Sentinel("anthropic")
	if !strings.HasPrefix(sentinel, "sk-ant-oat01-ironcurtain-") {
		t.Errorf("sentinel %s", sentinel)
	}
	res, body := s.inTunnel("api.anthropic.com", s.message("X-Api-Key: ", "Authorization: bearer "))
	if res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v %s", res, body)
	}
	h := s.requests[0].Header
	if h.Get("Authorization") != "Bearer "+realKey || h.Get("X-Api-Key") != "" || h.Get("Anthropic-Beta") != "oauth-2025-04-20" {
		t.Errorf("the upstream's header: %v", h)
	}
}

func TestBodyKeepsItsBytes(t *testing.T) {
	s := newHarness(t, nil)
	body := "{ \"model\" : \"m\",\n \"tools\":[ {\"type\":\"web_search_20250305\",\"name\":\"w\"} , {\"name\":\"a\"} ], \"messages\":[{\"role\":\"user\",\"content\":\"\\u0041 1e5 " + s.proxy.Sentinel("anthropic") + "\"}], \"n\":1.00 }"
	res, _ := s.inTunnel("api.anthropic.com", s.withBody("api.anthropic.com", "/v1/messages", "X-Api-Key", "anthropic", body))
	if res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v", res)
	}
	want := strings.Replace(body, `{"type":"web_search_20250305","name":"w"} , `, "", 1)
	if got := s.lastBody(); got != want {
		t.Errorf("forwarded %s\nwant      %s", got, want)
	}
}

func TestChunkedBodyAndExpectation(t *testing.T) {
	s := newHarness(t, nil)
	chunked := s.message("Content-Length: 72\r\n\r\n"+`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`,
		"Transfer-Encoding: chunked\r\n\r\n7\r\n{\"model\r\n6\r\n\":\"m\"}\r\n0\r\n\r\n")
	if res, body := s.inTunnel("api.anthropic.com", chunked); res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v %s", res, body)
	}
	if got := s.lastBody(); got != `{"model":"m"}` || s.requests[0].ContentLength != 13 {
		t.Errorf("forwarded %q", got)
	}
	c := s.tunnel("api.anthropic.com")
	head, body, _ := strings.Cut(s.message("Anthropic-Version", "Expect: 100-continue\r\nAnthropic-Version"), "\r\n\r\n")
	_, _ = io.WriteString(c, head+"\r\n\r\n")
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, _ = r.ReadString('\n')
	_, _ = io.WriteString(c, body)
	if res, _ := readAnswer(t, r); res == nil || res.StatusCode != 200 {
		t.Errorf("answer %+v", res)
	}
}

func TestKeepAlive(t *testing.T) {
	s := newHarness(t, nil)
	c := s.tunnel("api.anthropic.com")
	r := bufio.NewReader(c)
	for i := range 20 {
		_, _ = io.WriteString(c, s.message())
		if res, _ := readAnswer(t, r); res == nil || res.StatusCode != 200 {
			t.Fatalf("request %d: %+v", i, res)
		}
	}
	_, _ = io.WriteString(c, s.message()+s.message()) // sent in one piece
	for range 2 {
		if res, _ := readAnswer(t, r); res == nil || res.StatusCode != 200 {
			t.Fatalf("pipelined: %+v", res)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d upstream connections for one client", n)
	}
}

func TestAnswersThatDoNotPass(t *testing.T) {
	s := newHarness(t, nil)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		reason Reason
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.org/", http.StatusFound)
		}, 502, ReasonRedirect},
		"encoded": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "gzip") }, 502, ReasonAnswer},
		"closed":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.takeRecords()
			s.answer(c.answer)
			res, body := s.inTunnel("api.anthropic.com", s.message())
			if res == nil || res.StatusCode != c.status || !strings.Contains(body, `"type":"error"`) {
				t.Errorf("answer %+v %s", res, body)
			}
			if got := s.awaitRecords(2)[1]; got.Reason != c.reason || got.Decision != Failed {
				t.Errorf("record %+v", got)
			}
		})
	}
	s.t = t
}

func TestResponseHeaders(t *testing.T) {
	s := newHarness(t, nil)
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Request-Id", "req_1")
		h.Set("Anthropic-Ratelimit-Requests-Remaining", "5")
		for _, name := range []string{"Set-Cookie", "Alt-Svc", "Strict-Transport-Security", "Location", "X-Other", "Server", "Connection"} {
			h.Set(name, "x")
		}
		w.WriteHeader(429)
		_, _ = io.WriteString(w, "{}")
	})
	res, _ := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 429 {
		t.Fatalf("answer %+v", res)
	}
	var names []string
	for name := range res.Header {
		names = append(names, name)
	}
	for _, name := range names {
		switch name {
		case "Content-Type", "Request-Id", "Anthropic-Ratelimit-Requests-Remaining", "Date":
		default:
			t.Errorf("%s reached the client", name)
		}
	}
}

func TestBrokenAnswerIsBrokenForTheClient(t *testing.T) {
	s := newHarness(t, nil)
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	c := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(c, s.message())
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err == nil || string(body) != "data: 1\n\n" {
		t.Errorf("read %q, %v; want an error", body, err)
	}
	if got := s.awaitRecords(2)[1]; got.Reason != ReasonBroken {
		t.Errorf("record %+v", got)
	}
}

func TestClientThatGoesEndsTheUpstreamRequest(t *testing.T) {
	s := newHarness(t, nil)
	started, ended := make(chan struct{}), make(chan struct{})
	s.answer(func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
		close(ended)
	})
	c := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(c, s.message())
	<-started
	_ = c.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the upstream request goes on")
	}
	if got := s.awaitRecords(2)[1]; got.Reason != ReasonClientGone {
		t.Errorf("record %+v", got)
	}
}

func TestAuditDecides(t *testing.T) {
	s := newHarness(t, nil)
	s.mu.Lock()
	s.auditErr = errors.New("disk full")
	s.mu.Unlock()
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 503 || s.conns.Load() != 0 {
		t.Fatalf("answer %+v %s, upstream connections %d", res, body, s.conns.Load())
	}
	s.mu.Lock()
	s.auditErr = nil
	s.mu.Unlock()
	if res, _ = s.inTunnel("api.anthropic.com", s.message()); res == nil || res.StatusCode != 200 {
		t.Errorf("after the audit works again: %+v", res)
	}
}

func TestAuditThatHangs(t *testing.T) {
	release := make(chan struct{})
	s := newHarness(t, func(c *Config) {
		c.Limits.AuditTime = 30 * time.Millisecond
		c.Audit = func(Record) error { <-release; return nil }
	})
	defer close(release)
	res, _ := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 503 || s.conns.Load() != 0 {
		t.Errorf("answer %+v, upstream connections %d", res, s.conns.Load())
	}
}

func TestNoCredential(t *testing.T) {
	var told []Activity
	var mu sync.Mutex
	s := newHarness(t, func(c *Config) {
		c.Credentials = func(context.Context, string) (Credential, error) { return Credential{}, loginError{} }
		c.Activity = func(a Activity) { mu.Lock(); defer mu.Unlock(); told = append(told, a) }
	})
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 401 || !strings.Contains(body, "authentication_error") || !strings.Contains(body, "run the login command") {
		t.Errorf("answer %+v %s", res, body)
	}
	checkRefused(t, s, ReasonNoLogin)
	mu.Lock()
	defer mu.Unlock()
	if len(told) == 0 || told[0].Kind != LoginNeeded {
		t.Errorf("activities %+v", told)
	}
}

// A temporary failure of the source does not tell the person to log in.
func TestCredentialThatFailsForAMoment(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		c.Credentials = func(context.Context, string) (Credential, error) {
			return Credential{}, errors.New("take the lock /home/person/.claude.lock: status 429")
		}
		c.Activity = func(a Activity) {
			if a.Kind == LoginNeeded {
				t.Error("a login is said to be needed")
			}
		}
	})
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "api_error") {
		t.Errorf("answer %+v %s", res, body)
	}
	// The agent must not see directories of the host.
	if r := checkRefused(t, s, ReasonNoLogin); !strings.Contains(r.Detail, "/home/person/") || !strings.Contains(body, "take the lock .claude.lock") {
		t.Errorf("answer %s, record %+v", body, r)
	}
}

type loginError struct{}

func (loginError) Error() string { return "the token has expired" }
func (loginError) Hint() string  { return "run the login command" }

func TestRefusedCredentialIsRenewedOnce(t *testing.T) {
	const second = "sk-ant-api03-the-second-real-key-0123456789"
	current := realKey
	refusals := 0
	s := newHarness(t, func(c *Config) {
		c.Credentials = func(context.Context, string) (Credential, error) { return Credential{KindAPIKey, current, ""}, nil }
		c.Refused = func(_ context.Context, _ string, used Credential) bool {
			refusals++
			if used.Value != realKey {
				return false
			}
			current = second
			return true
		}
	})
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != second {
			w.WriteHeader(401)
		}
		_, _ = io.WriteString(w, "got "+r.Header.Get("X-Api-Key"))
	})
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 200 || body != "got "+s.proxy.Sentinel("anthropic") {
		t.Fatalf("answer %+v %s", res, body)
	}
	records := s.awaitRecords(3)
	if last := records[len(records)-1]; last.Retry != 1 || refusals != 1 {
		t.Errorf("record %+v, %d refusals", last, refusals)
	}
}

// busyError is a temporary refusal.
type busyError struct{}

func (busyError) Error() string             { return "busy" }
func (busyError) RetryAfter() time.Duration { return 7 * time.Second }

func TestAskAndBudget(t *testing.T) {
	table := Providers()
	table[0].Hosts[0].Endpoints[0].Ask = true
	approve, budget := false, error(nil)
	var asked Request
	s := newHarness(t, func(c *Config) {
		c.Table = table
		c.Ask = func(_ context.Context, r Request) (Ruling, error) {
			asked = r
			return Ruling{Approved: approve, Outcome: map[bool]string{true: "approved", false: "denied"}[approve], Reason: "ask them", ID: "e1", By: "tui"}, nil
		}
		c.Budget = func(context.Context, Request) error { return budget }
	})
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 403 || !strings.Contains(body, "(denied). ask them") {
		t.Fatalf("not approved: %+v %s", res, body)
	}
	if r := checkRefused(t, s, ReasonAsk); r.Ruling == nil || r.Ruling.By != "tui" || r.Digest == "" {
		t.Errorf("record %+v", r)
	}
	approve, budget = true, errors.New("The budget of this session is used up.")
	res, body = s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 429 || res.Header.Get("X-Should-Retry") != "false" || !strings.Contains(body, "used up") {
		t.Fatalf("over budget: %+v %s", res, body)
	}
	checkRefused(t, s, ReasonBudget)
	budget = fmt.Errorf("later: %w", busyError{})
	res, body = s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 429 || res.Header.Get("X-Should-Retry") != "" || res.Header.Get("Retry-After") != "7" || !strings.Contains(body, "later: busy") {
		t.Fatalf("for now: %+v %s", res, body)
	}
	checkRefused(t, s, ReasonBudget)
	budget = nil
	if res, _ = s.inTunnel("api.anthropic.com", s.message()); res == nil || res.StatusCode != 200 {
		t.Fatalf("approved: %+v", res)
	}
	body = s.lastBody()
	sum := sha256.Sum256([]byte("POST\x00api.anthropic.com\x00/v1/messages?beta=true\x00" + body))
	if want := hex.EncodeToString(sum[:]); asked.Digest != want || s.awaitRecords(2)[0].Digest != want {
		t.Errorf("digest %s, want %s", asked.Digest, want)
	}
}

// Admit refuses all requests, also those without a body.
func TestAdmit(t *testing.T) {
	paused := true
	s := newHarness(t, func(c *Config) {
		c.Admit = func(context.Context, Request) error {
			if paused {
				return errors.New("the session is paused")
			}
			return nil
		}
	})
	hello := "GET /api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"
	for _, text := range []string{s.message(), hello} {
		t.Run(fmt.Sprintf("%.40s", text), func(t *testing.T) {
			res, body := s.inTunnel("api.anthropic.com", text)
			if res == nil || res.StatusCode != 403 || !strings.Contains(body, "the session is paused") {
				t.Errorf("answer %+v %s", res, body)
			}
			checkRefused(t, s, ReasonPaused)
		})
	}
	paused = false
	if res, _ := s.inTunnel("api.anthropic.com", s.message()); res == nil || res.StatusCode != 200 {
		t.Errorf("answer %+v", res)
	}
}

// If an agent closes the connection before the end of an answer, or asks for a stream
// that does not report its usage, the usage is guessed.
func TestUsageIsGuessed(t *testing.T) {
	const begin = `data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"output_tokens":1}}}` + "\n\n"
	delta := strings.Repeat("data: {\"delta\":\"a\"}\n\n", 20)
	for _, c := range []struct {
		name, stream string
		hangUp       bool
		in, out      int64
	}{
		{"no usage in the stream", delta, false, 18, 20},
		{"client gone", begin + delta, true, 10, 21},
		{"client gone before any event", "", true, 18, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHarness(t, nil)
			s.answer(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, c.stream)
				_ = http.NewResponseController(w).Flush()
				if c.hangUp {
					<-r.Context().Done()
				}
			})
			conn := s.tunnel("api.anthropic.com")
			_, _ = io.WriteString(conn, s.message())
			got, buf := "", make([]byte, 1024)
			for !strings.Contains(got, "\r\n\r\n") || strings.Count(got, "data:") < strings.Count(c.stream, "data:") {
				n, err := conn.Read(buf)
				if got += string(buf[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if c.hangUp {
				_ = conn.Close()
			}
			r := s.awaitRecords(2)[1]
			if r.Usage == nil || r.Usage.In != c.in || r.Usage.Out < c.out || !c.hangUp && r.Usage.Out > c.out || !r.Guessed {
				t.Errorf("usage %+v, guessed %v", r.Usage, r.Guessed)
			}
		})
	}
}

// A closed connection is charged for the time in which the model may have written.
func TestTimeIsCharged(t *testing.T) {
	for reason, charged := range map[Reason]bool{ReasonClientGone: true, ReasonTimeout: false} {
		t.Run(fmt.Sprint(reason), func(t *testing.T) {
			x := &exchange{endpoint: &Endpoint{Body: body.AnthropicMessages}}
			s := &stream{x: x, sent: time.Now().Add(-time.Minute), denial: failure(0, reason, "")}
			if c, guessed := s.usage(); (c.Out > 0) != charged || !guessed {
				t.Errorf("%s: %+v, guessed %v", reason, c, guessed)
			}
		})
	}
}

func TestUsageIsRecorded(t *testing.T) {
	s := newHarness(t, nil)
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, data := range []string{
			`{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}}}`,
			`{"type":"content_block_delta","delta":{"text":"hi"}}`,
			`{"type":"message_delta","usage":{"output_tokens":25}}`,
		} {
			_, _ = fmt.Fprintf(w, "event: x\ndata: %s\n\n", data)
		}
	})
	_, _ = s.inTunnel("api.anthropic.com", s.message())
	r := s.awaitRecords(2)[1]
	want := usage.Count{In: 10, Out: 25, CacheRead: 100, CacheWrite: 7}
	if r.Usage == nil || *r.Usage != want || r.Model != "claude-x" {
		t.Errorf("usage %+v of %s, want %+v", r.Usage, r.Model, want)
	}
}
