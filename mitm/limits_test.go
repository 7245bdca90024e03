package mitm

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLimitsOfTime(t *testing.T) {
	const limit = 2 * time.Second // a handshake on a busy machine fits in
	short := func(c *Config) {
		c.Limits = Limits{HeadTime: limit, BodyStall: limit, IdleTime: limit, StreamIdle: limit, WriteStall: limit}
	}
	t.Run("outer head", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		c := s.dial()
		_, _ = io.WriteString(c, "CONNECT api.anth")
		if got, _ := io.ReadAll(c); !strings.HasPrefix(string(got), "HTTP/1.1 408 ") {
			t.Errorf("answered %q", got)
		}
		checkRefused(t, s, ReasonHeadTimeout)
	})
	t.Run("inner head", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		c := s.tunnel("api.anthropic.com")
		_, _ = io.WriteString(c, "POST /v1/mess")
		if res, _ := readAnswer(t, bufio.NewReader(c)); res == nil || res.StatusCode != 408 {
			t.Errorf("answer %+v", res)
		}
		checkRefused(t, s, ReasonHeadTimeout)
	})
	t.Run("nothing in a fresh tunnel", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		c := s.tunnel("api.anthropic.com")
		_, _ = io.ReadAll(c)
		checkRefused(t, s, ReasonHeadTimeout)
	})
	t.Run("body", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		c := s.tunnel("api.anthropic.com")
		m := s.message()
		_, _ = io.WriteString(c, m[:len(m)-5])
		if res, _ := readAnswer(t, bufio.NewReader(c)); res == nil || res.StatusCode != 408 {
			t.Errorf("answer %+v", res)
		}
		checkRefused(t, s, ReasonBodyTimeout)
	})
	t.Run("idle between requests", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		c := s.tunnel("api.anthropic.com")
		r := bufio.NewReader(c)
		_, _ = io.WriteString(c, s.message())
		_, _ = readAnswer(t, r)
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("read ended with %v", err)
		}
		if got := s.awaitRecords(2); len(got) != 2 {
			t.Errorf("records %+v", got)
		}
	})
	t.Run("silent upstream", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, short)
		s.answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		c := s.tunnel("api.anthropic.com")
		_, _ = io.WriteString(c, s.message())
		_, _ = io.ReadAll(c)
		if got := s.awaitRecords(2)[1]; got.Reason != ReasonTimeout {
			t.Errorf("record %+v", got)
		}
	})
	t.Run("client that does not read", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, func(c *Config) { short(c); c.Limits.StreamIdle = 0 })
		ended := make(chan struct{})
		s.answer(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			w.Header().Set("Content-Type", "text/event-stream")
			for event := "data: " + strings.Repeat("x", 1<<10) + "\n\n"; r.Context().Err() == nil; {
				_, _ = io.WriteString(w, event)
				w.(http.Flusher).Flush()
			}
		})
		c := s.tunnel("api.anthropic.com")
		_, _ = io.WriteString(c, s.message())
		<-ended
		if got := s.awaitRecords(2)[1]; got.Reason != ReasonClientGone {
			t.Errorf("record %+v", got)
		}
	})
	t.Run("stream longer than every limit but one", func(t *testing.T) {
		t.Parallel()
		s := newHarness(t, func(c *Config) { short(c); c.Limits.StreamIdle = 0 })
		s.answer(func(w http.ResponseWriter, _ *http.Request) {
			tick := time.NewTicker(limit / 12)
			defer tick.Stop()
			for range 15 {
				_, _ = io.WriteString(w, "data: 1\n\n")
				w.(http.Flusher).Flush()
				<-tick.C
			}
		})
		if res, body := s.inTunnel("api.anthropic.com", s.message()); res == nil || strings.Count(body, "data") != 15 {
			t.Errorf("the stream was cut: %q", body)
		}
	})
}

// All bodies under way together have a limit, and a body whose reading has begun is not
// stopped by another.
func TestLimitOfBodiesTogether(t *testing.T) {
	s := newHarness(t, func(c *Config) { c.Limits = Limits{SpoolBytes: 2 << 20} })
	body := func(size int) string {
		return `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a", size) + `"}]}`
	}
	send := func(size int) string {
		return s.withBody("api.anthropic.com", "/v1/messages", "X-Api-Key", "anthropic", body(size))
	}
	first := s.tunnel("api.anthropic.com")
	large := send(3 << 19)
	_, _ = io.WriteString(first, large[:len(large)/2])
	for held := false; !held; runtime.Gosched() { // until the proxy has read its head
		s.proxy.spool.mu.Lock()
		held = s.proxy.spool.used >= 3<<19
		s.proxy.spool.mu.Unlock()
	}
	res, answer := s.inTunnel("api.anthropic.com", send(1<<20))
	if res == nil || res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("second body: %+v %s", res, answer)
	}
	if r := s.awaitRecords(1)[0]; r.Reason != ReasonSpool {
		t.Errorf("record %+v", r)
	}
	_, _ = io.WriteString(first, large[len(large)/2:])
	if res, answer := readAnswer(t, bufio.NewReader(first)); res == nil || res.StatusCode != 200 || s.lastBody() != body(3<<19) {
		t.Errorf("first body: %+v %s", res, answer)
	}
}

func TestLimitsOfNumber(t *testing.T) {
	s := newHarness(t, func(c *Config) { c.Limits = Limits{Connections: 4, Requests: 1} })
	block := make(chan struct{})
	started := make(chan struct{}, 1)
	s.answer(func(http.ResponseWriter, *http.Request) { started <- struct{}{}; <-block })
	first := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(first, s.message())
	<-started
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 429 || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "rate_limit_error") {
		t.Errorf("second request: %+v %s", res, body)
	}
	refused, once := make(chan struct{}), sync.Once{}
	for range 4 { // one more than there may be
		c := s.dial()
		go func() {
			if got, _ := io.ReadAll(c); strings.HasPrefix(string(got), "HTTP/1.1 503 ") {
				once.Do(func() { close(refused) })
			}
		}()
	}
	<-refused
	close(block)
	seen := map[Reason]int{}
	for _, r := range s.awaitRecords(3) {
		seen[r.Reason]++
	}
	if seen[ReasonRequests] != 1 || seen[ReasonConnections] == 0 {
		t.Errorf("records by reason: %v", seen)
	}
}

// The budget gets what a request may cost at most: the models that may answer (Google has
// its model in the path and not in the body), the length of an answer, and the number of
// answers.
func TestWhatTheBudgetIsTold(t *testing.T) {
	var asked []Request
	s := newHarness(t, func(c *Config) {
		c.Budget = func(_ context.Context, r Request) error { asked = append(asked, r); return nil }
	})
	for _, c := range []struct {
		provider, host, path, header, body string
		models                             string
		answers, most                      int64
		status                             int
	}{
		{"openai", "api.openai.com", "/v1/chat/completions", "Authorization", `{"model":"gpt-5","n":8,"max_tokens":100}`, "gpt-5", 8, 100, 200},
		{"openai", "api.openai.com", "/v1/chat/completions", "Authorization", `{"model":"gpt-5","n":1e3}`, "", 0, 0, 400},
		{"openai", "api.openai.com", "/v1/responses", "Authorization", `{"model":"gpt-5","max_output_tokens":7}`, "gpt-5", 1, 7, 200},
		{"anthropic", "api.anthropic.com", "/v1/messages", "X-Api-Key", `{"model":"claude-haiku-4-5","max_tokens":-1}`, "claude-haiku-4-5", 1, math.MaxInt64, 200},
		{"openrouter", "openrouter.ai", "/api/v1/messages", "Authorization", `{"model":"a","models":["b"],"fallbacks":[{"model":"c","max_tokens":9}]}`, "a b c", 1, 9, 200},
		{"openrouter", "openrouter.ai", "/api/v1/chat/completions", "Authorization", `{"models":["a","b"]}`, "a b", 1, 0, 200},
		{
			"google", "generativelanguage.googleapis.com", "/v1beta/models/gemini-2.5-pro:generateContent", "X-Goog-Api-Key",
			`{"model":"gemini-2.5-flash-lite","generationConfig":{"candidateCount":4}}`, "gemini-2.5-pro", 4, 0, 200,
		},
		{
			"google", "generativelanguage.googleapis.com", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "X-Goog-Api-Key",
			`{"generation_config":{"candidate_count":"4"}}`, "", 0, 0, 400,
		},
		{"google", "generativelanguage.googleapis.com", "/v1beta/models/deep-research-pro:generateContent", "X-Goog-Api-Key", `{}`, "", 0, 0, 403},
	} {
		asked = nil
		res, body := s.inTunnel(c.host, s.withBody(c.host, c.path, c.header, c.provider, c.body))
		if res == nil || res.StatusCode != c.status {
			t.Errorf("%s %s: answer %+v %s", c.path, c.body, res, body)
			continue
		}
		if c.status != 200 {
			if len(asked) > 0 || len(s.requests) > 0 && s.requests[len(s.requests)-1].RequestURI == c.path && s.lastBody() == c.body {
				t.Errorf("%s %s was forwarded", c.path, c.body)
			}
			continue
		}
		if len(asked) != 1 || strings.Join(append([]string{asked[0].Model}, asked[0].Others...), " ") != c.models || asked[0].Answers != c.answers || asked[0].Most != c.most {
			t.Errorf("%s %s: %+v", c.path, c.body, asked)
		}
	}
}

// A feature that only some parsers would recognize is removed as well.
func TestFeaturesThatAreNoNames(t *testing.T) {
	for value, want := range map[string]string{
		"a-1,b.2 , c_3":               "a-1,b.2 , c_3",
		"a,,b":                        "a,,b",
		`a,"files-api-2025-04-14",b`:  "a,b",
		"a;files-api-2025-04-14,b":    "b",
		"a files-api-2025-04-14":      "",
		"a,\tFILES-API-2025-04-14 ,b": "a,b",
	} {
		t.Run(value, func(t *testing.T) {
			if got, taken := dropBetas(value, []string{"files-api"}); got != want || (taken == nil) != (value == want) {
				t.Errorf("%q: %q, without %q; want %q", value, got, taken, want)
			}
		})
	}
	g := testGuarded()
	g.provider = &Provider{RequestHeaders: []string{"anthropic-beta"}, DropBetas: []string{"files-api"}}
	many := field{"anthropic-beta", strings.Repeat("files-api-2,", 50) + "a"}
	fields, taken := g.forwarded(&head{fields: []field{many, many}})
	if want := (field{"anthropic-beta", "a"}); len(fields) != 2 || fields[0] != want || fields[1] != want || len(taken) != mostDropped+1 {
		t.Errorf("%q, without %d", fields, len(taken))
	}
}

// The fields of an agent are bounded, each and all together.
func TestLimitsOfFields(t *testing.T) {
	g := &guarded{provider: &Provider{RequestHeaders: []string{"anthropic-beta", "x-codex-*"}}}
	long, longest := strings.Repeat("x", mostFieldText+1), strings.Repeat("x", mostFieldText)
	betas := "claude-code-20250219,interleaved-thinking-2025-05-14" + strings.Repeat(",context-management-2025-06-27", 10)
	given := []field{
		{name: "user-agent", value: longest},
		{name: "anthropic-beta", value: betas},
		{name: "x-codex-window-id", value: "1:0"},
		{name: "user-agent", value: long},
		{name: "idempotency-key", value: long},
		{name: "x-codex-turn-metadata", value: long},
		{name: "x-codex-" + long, value: "1"},
	}
	fields, dropped := g.forwarded(&head{fields: given})
	if !slices.Equal(fields, given[:3]) || len(dropped) != len(given)-3 {
		t.Errorf("forwarded %v, without %v", fields, dropped)
	}
	many := make([]field, 200)
	for i := range many {
		many[i] = field{name: "x-codex-a", value: longest}
	}
	many[0] = field{name: "anthropic-beta", value: strings.Repeat("x,", 30<<10)}
	fields, dropped = g.forwarded(&head{fields: many})
	size := 0
	for _, f := range fields {
		size += len(f.name) + len(f.value)
	}
	if size > mostFields || len(dropped) != mostDropped+1 {
		t.Errorf("%d bytes are forwarded, without %d", size, len(dropped))
	}
}
