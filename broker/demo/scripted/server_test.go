package scripted

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// start runs a server and a client that trusts it.
func start(t *testing.T, options ...Option) (*Server, *http.Client) {
	t.Helper()
	s, err := Start(t.Context(), append([]Option{WithDelay(0)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.CAPool(), ServerName: "api.anthropic.com"}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, &http.Client{Transport: transport}
}

// post sends a body with the headers given as pairs.
func post(t *testing.T, c *http.Client, url string, body []byte, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// object reads a JSON object.
func object(t *testing.T, r io.Reader) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.NewDecoder(r).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

const readOrder = `{"model":"m-1","max_tokens":100,"messages":[{"role":"user","content":"read notes.txt"}],` + offer + `}`

func TestOnlyTheKeyOpens(t *testing.T) {
	s, c := start(t)
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"no key", nil, 401},
		{"another provider's key", []string{"X-Api-Key", s.Keys()["openai"]}, 401},
		{"another key", []string{"X-Api-Key", "sk-ant-api03-other"}, 401},
		{"the key as a bearer", []string{"Authorization", "Bearer " + s.Keys()["anthropic"]}, 401},
		{"the key twice", []string{"X-Api-Key", s.Keys()["anthropic"], "X-Api-Key", s.Keys()["anthropic"]}, 401},
		{"the key", []string{"X-Api-Key", s.Keys()["anthropic"]}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, c, s.URL()+"/v1/messages?beta=true", []byte(readOrder), tt.headers...)
			if r.StatusCode != tt.status {
				t.Fatalf("status %d, want %d", r.StatusCode, tt.status)
			}
			v := object(t, r.Body)
			if tt.status == 401 {
				if e, ok := v["error"].(map[string]any); !ok || e["type"] != "authentication_error" || v["type"] != "error" {
					t.Errorf("not an error in the provider's shape: %v", v)
				}
			}
		})
	}
	for _, e := range s.Requests() {
		if e.KeyOK != (e.Status == 200) {
			t.Errorf("logged KeyOK %v with status %d", e.KeyOK, e.Status)
		}
		if text := encode(e); strings.Contains(text, s.Keys()["anthropic"]) {
			t.Errorf("the log holds the key: %s", text)
		}
	}
}

func TestRefusalsInTheProvidersShape(t *testing.T) {
	s, c := start(t)
	tests := []struct {
		name, path, body string
		headers          []string
		status           int
		kind             string
	}{
		{"an unknown path", "/v1/files", "{}", nil, 404, "not_found_error"},
		{"a bad body", "/v1/messages", "{", nil, 400, "invalid_request_error"},
		{"a bad count", "/v1/messages/count_tokens", "{}", nil, 400, "invalid_request_error"},
		{"no gzip", "/v1/messages", readOrder, []string{"Content-Encoding", "gzip"}, 400, "invalid_request_error"},
		{"too large", "/v1/messages", strings.Repeat(" ", maxBody+1), nil, 413, "request_too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, c, s.URL()+tt.path, []byte(tt.body), append(tt.headers, "X-Api-Key", s.Keys()["anthropic"])...)
			e, _ := object(t, r.Body)["error"].(map[string]any)
			if r.StatusCode != tt.status || e["type"] != tt.kind {
				t.Errorf("got %d %v, want %d %s", r.StatusCode, e, tt.status, tt.kind)
			}
			if r.Header.Get("Request-Id") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestWholeAnswer(t *testing.T) {
	s, c := start(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(readOrder)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r := post(t, c, s.URL()+"/v1/messages", packed.Bytes(), "Content-Encoding", "gzip", "X-Api-Key", s.Keys()["anthropic"])
	v := object(t, r.Body)
	content, _ := v["content"].([]any)
	if v["stop_reason"] != "tool_use" || v["model"] != "m-1" || v["role"] != "assistant" || len(content) != 2 {
		t.Fatalf("unexpected message: %v", v)
	}
	use, _ := content[1].(map[string]any)
	input, _ := use["input"].(map[string]any)
	if use["type"] != "tool_use" || use["name"] != "mcp__ironcurtain__filesystem__read_file" || input["path"] != "notes.txt" {
		t.Errorf("unexpected call: %v", use)
	}
	log := s.Requests()
	if e := log[len(log)-1]; e.Prompt != "read notes.txt" || e.Tool != use["name"] || e.Model != "m-1" || e.Stream {
		t.Errorf("unexpected log entry: %+v", e)
	}
}

func TestCountTokens(t *testing.T) {
	s, c := start(t)
	r := post(t, c, s.URL()+"/v1/messages/count_tokens", []byte(readOrder), "X-Api-Key", s.Keys()["anthropic"])
	if n, _ := object(t, r.Body)["input_tokens"].(float64); int(n) != len(readOrder)/4 {
		t.Errorf("%v tokens for %d bytes", n, len(readOrder))
	}
}

func TestTheLogIsBounded(t *testing.T) {
	var l requestLog
	for i := range remembered + 5 {
		l.add(Request{Status: i})
	}
	all := l.all()
	if len(all) != remembered || all[0].Status != 5 || all[remembered-1].Status != remembered+4 {
		t.Errorf("%d entries from %d to %d", len(all), all[0].Status, all[len(all)-1].Status)
	}
}

func TestCloseEndsStreamsAndTheContextClosesToo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, WithDelay(time.Hour)) // a stream that would not end by itself
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.CAPool()}}
	defer transport.CloseIdleConnections()
	body := strings.Replace(readOrder, `"model"`, `"stream":true,"model"`, 1)
	r := post(t, &http.Client{Transport: transport}, s.URL()+"/v1/messages", []byte(body), "X-Api-Key", s.Keys()["anthropic"])
	cancel()
	rest, _ := io.ReadAll(r.Body) // ends, with or without an error
	if strings.Contains(string(rest), "message_stop") {
		t.Error("the stream came to its own end")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if log := s.Requests(); len(log) != 1 || log[0].Status != 200 || !log[0].Stream {
		t.Errorf("logged %+v, want the one stream", log)
	}
}

func TestStreamOverTheWire(t *testing.T) {
	s, c := start(t, WithDelay(time.Millisecond))
	body := strings.Replace(readOrder, `"model"`, `"stream":true,"model"`, 1)
	r := post(t, c, s.URL()+"/v1/messages?beta=true", []byte(body), "X-Api-Key", s.Keys()["anthropic"])
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		t.Fatalf("content type %q", kind)
	}
	stream, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	events, err := parseEvents(string(stream))
	if err != nil {
		t.Fatal(err)
	}
	got, err := assemble(events)
	if err != nil {
		t.Fatal(err)
	}
	if got.input != `{"path":"notes.txt"}` || got.stop != "tool_use" {
		t.Errorf("got %+v", got)
	}
}

// Between two pieces the stream waits as long as it was told.
func TestStreamPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 8 * time.Millisecond
		m := newAnthropicMessage("m", 1, answer{text: strings.Repeat("x", 3*piecesSize)})
		began := time.Now()
		m.stream(t.Context(), &flushRecorder{header: http.Header{}}, delay)
		if took := time.Since(began); took != 3*delay {
			t.Errorf("three pieces took %v, want %v", took, 3*delay)
		}
	})
}
