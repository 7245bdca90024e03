package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Google's library brings a package that starts this when it is loaded.
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// wire is how a provider writes an answer, and what it wants to see.
type wire struct {
	path   string
	header string // that carries the key
	answer func(text, stop string) string
	done   string // the stop reason of a whole answer
	cut    string // that of one that was cut off
}

var wires = map[string]wire{
	"anthropic": {
		path: "/v1/messages", header: "X-Api-Key", done: "end_turn", cut: "max_tokens",
		answer: func(text, stop string) string {
			return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%s}],`+
				`"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, quote(text), stop)
		},
	},
	"openai": {
		path: "/chat/completions", header: "Authorization", done: "stop", cut: "length",
		answer: func(text, stop string) string {
			return fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":`+
				`{"role":"assistant","content":%s,"refusal":null},"logprobs":null,"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, quote(text), stop)
		},
	},
	"google": {
		path: "/v1beta/models/m:generateContent", header: "X-Goog-Api-Key", done: "STOP", cut: "MAX_TOKENS",
		answer: func(text, stop string) string {
			return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"finishReason":%q,"index":0}],"usageMetadata":{"promptTokenCount":1}}`, quote(text), stop)
		},
	},
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const key = "sk-test-0123456789"

var question = llm.Question{
	System: "Judge.", User: `{"tool":"git_push"}`, Name: "verdict", MaxTokens: 777,
	Schema: map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"decision"},
		"properties": map[string]any{"decision": map[string]any{"type": "string", "enum": []string{"approve", "escalate"}}},
	},
}

// serve runs a provider and returns a model that asks it, and how often it was asked.
func serve(t *testing.T, name string, h http.HandlerFunc) (llm.Model, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	m, err := provider.New(provider.Options{Provider: name, Model: "m", Key: key, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, &asked
}

// Each library asks in its provider's format, with the key and the schema, and
// with nothing of the environment.
func TestAsking(t *testing.T) {
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
				t.Setenv(variable, "http://127.0.0.1:1/elsewhere")
			}
			t.Setenv("ANTHROPIC_AUTH_TOKEN", "another")
			t.Setenv("OPENAI_ORG_ID", "another")
			m, _ := serve(t, name, func(rw http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if r.Method != http.MethodPost || r.URL.Path != w.path || !strings.HasSuffix(r.Header.Get(w.header), key) {
					t.Errorf("%s %s, key %q", r.Method, r.URL.Path, r.Header.Get(w.header))
				}
				for _, part := range []string{"Judge.", "git_push", "escalate", "additionalProperties", "777"} {
					if !strings.Contains(string(body), part) {
						t.Errorf("%q is missing in %s", part, body)
					}
				}
				for _, values := range r.Header {
					if strings.Contains(strings.Join(values, " "), "another") {
						t.Errorf("headers carry something of the environment: %v", r.Header)
					}
				}
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, w.answer(`{"decision":"approve"}`, w.done))
			})
			got, err := m.Ask(t.Context(), question)
			if err != nil || got != `{"decision":"approve"}` {
				t.Errorf("%q, %v", got, err)
			}
			if !strings.HasPrefix(m.Name(), name+"/") {
				t.Errorf("name %q", m.Name())
			}
		})
	}
}

// Whatever is not a whole answer is an error, comes of one request, and tells
// neither the key nor what the provider wrote.
func TestFailures(t *testing.T) {
	jsonType := func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }
	for class, c := range map[string]struct {
		serve     func(name string) http.HandlerFunc
		is        error
		transient bool
	}{
		"400": {status(400), nil, false},
		"401": {status(401), nil, false},
		"403": {status(403), nil, false},
		"404": {status(404), nil, false},
		"429": {status(429), nil, true},
		"500": {status(500), nil, true},
		"503": {status(503), nil, true},
		"529": {status(529), nil, true},
		"redirect": {func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://example.com/", http.StatusTemporaryRedirect)
			}
		}, nil, false},
		"1 MB": {func(name string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				jsonType(w)
				_, _ = io.WriteString(w, wires[name].answer(strings.Repeat("x", 1<<20), wires[name].done))
			}
		}, llm.ErrTooLarge, false},
		"cut off": {func(name string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				jsonType(w)
				_, _ = io.WriteString(w, wires[name].answer(`{"decision":"app`, wires[name].cut))
			}
		}, llm.ErrCut, false},
		"not JSON": {func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				jsonType(w)
				_, _ = io.WriteString(w, "<html>tell-nobody</html>")
			}
		}, nil, false},
		"empty object": {func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				jsonType(w)
				_, _ = io.WriteString(w, "{}")
			}
		}, llm.ErrRefused, false},
		"connection closed": {func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_ = conn.Close()
				}
			}
		}, nil, true},
	} {
		for name := range wires {
			t.Run(class+"/"+name, func(t *testing.T) {
				m, asked := serve(t, name, c.serve(name))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				text, err := m.Ask(ctx, question)
				if err == nil {
					t.Fatalf("answer %q", text)
				}
				if c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("error %v, want %v", err, c.is)
				}
				if got := llm.Transient(err); got != c.transient {
					t.Errorf("transient %v: %v", got, err)
				}
				if asked.Load() != 1 {
					t.Errorf("asked %d times", asked.Load())
				}
				if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "tell-nobody") {
					t.Errorf("the error tells too much: %v", err)
				}
			})
		}
	}
}

func status(code int) func(string) http.HandlerFunc {
	return func(string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"error":{"message":"tell-nobody `+key+`"}}`)
		}
	}
}

// A provider that does not answer costs no more than the time that is given.
func TestNoAnswer(t *testing.T) {
	for name := range wires {
		t.Run(name, func(t *testing.T) {
			m, asked := serve(t, name, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client leaves
				<-r.Context().Done()
			})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := m.Ask(ctx, question)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute || asked.Load() > 1 {
				t.Errorf("%v after %v, asked %d times", err, time.Since(began), asked.Load())
			}
			if llm.Transient(err) {
				t.Error("worth asking again")
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []provider.Options{
		{Provider: "nobody", Key: key},
		{Provider: "anthropic", Key: key, BaseURL: "http://example.com"},
		{Provider: "anthropic", Key: key, BaseURL: "https://user:pw@example.com"},
		{Provider: "openai", Key: key, BaseURL: "nonsense"},
	} {
		if _, err := provider.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if _, err := provider.New(provider.Options{Provider: "google"}); !errors.Is(err, llm.ErrNoKey) {
		t.Errorf("%v", err)
	}
}
