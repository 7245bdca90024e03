package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// attack is one thing that an agent could try: what it sends, on which plane, and
// the reason in the one line that the audit must have.
type attack struct {
	name   string
	server string // name in the TLS handshake; empty: none is begun
	send   string // SENTINEL stands for the host's own
	status int    // of the answer; 0 for none
	reason string
}

// post is a request in a tunnel to one of the providers.
func post(host, path, header, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n%s: SENTINEL\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, host, header, len(body), body)
}

func attacks() []attack {
	const (
		anthropic = "api.anthropic.com"
		openai    = "api.openai.com"
		google    = "generativelanguage.googleapis.com"
		router    = "openrouter.ai"
		chatgpt   = "chatgpt.com"
	)
	connect := func(target string) string { return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n" }
	message := post(anthropic, "/v1/messages", "X-Api-Key", `{"model":"m"}`)
	in := func(from, to string) string { return strings.Replace(message, from, to, 1) }
	return []attack{
		{"another host", "", connect("evil.org:443"), 403, "host-not-allowed"},
		{"another port", "", connect(anthropic + ":8443"), 403, "port-not-allowed"},
		{"a user in the target", "", connect("x@" + anthropic + ":443"), 400, "connect-target"},
		{"a final dot", "", connect(anthropic + ".:443"), 400, "connect-target"},
		{"an address", "", connect("169.254.169.254:443"), 403, "host-not-allowed"},
		{"plain HTTP", "", "GET http://" + anthropic + "/api/hello HTTP/1.1\r\nHost: " + anthropic + "\r\n\r\n", 403, "plain-http"},
		{"a path outside", "", "GET /v1/models HTTP/1.1\r\nHost: " + anthropic + "\r\n\r\n", 405, "origin-form-outside-tunnel"},
		{"bad framing outside", "", "GET / HTTP/1.1\nHost: x\n\n", 400, "malformed-head"},
		{"h2c outside", "", "CONNECT " + anthropic + ":443 HTTP/1.1\r\nHost: " + anthropic + ":443\r\nUpgrade: h2c\r\n\r\n", 400, "upgrade"},
		{"8 MB of head", "", "CONNECT " + anthropic + ":443 HTTP/1.1\r\nHost: " + anthropic + ":443\r\nX: " + strings.Repeat("a", 8<<20) + "\r\n\r\n", 431, "head-too-large"},
		{"100,000 fields", "", "CONNECT " + anthropic + ":443 HTTP/1.1\r\nHost: " + anthropic + ":443\r\n" + strings.Repeat("X: a\r\n", 100_000) + "\r\n", 431, "too-many-headers"},
		{"another server name", "evil.org", "", 0, "server-name"},
		{"both lengths", anthropic, in("Content-Length", "Transfer-Encoding: chunked\r\nContent-Length"), 400, "transfer-encoding"},
		{"a folded line", anthropic, in("Content-Type", "X: a\r\n b\r\nContent-Type"), 400, "malformed-head"},
		{"another Host", anthropic, in("Host: "+anthropic, "Host: evil.org"), 400, "host-mismatch"},
		{"the absolute form", anthropic, in(" /v1/messages", " https://evil.org/v1/messages"), 400, "absolute-form-inside-tunnel"},
		{"an encoded slash", anthropic, in("/v1/messages", "/v1%2fmessages"), 400, "request-target"},
		{"dots", anthropic, in("/v1/messages", "/v1/x/../messages"), 400, "request-target"},
		{"files", anthropic, in("/v1/messages", "/v1/files"), 403, "endpoint-not-allowed"},
		{"telemetry", anthropic, in("/v1/messages", "/api/event_logging/v2/batch"), 403, "endpoint-not-allowed"},
		{"the token service", "platform.claude.com", in("/v1/messages", "/v1/oauth/token"), 400, "host-mismatch"},
		{"a query", anthropic, in("/v1/messages", "/v1/messages?beta=true&x=y"), 403, "query-not-allowed"},
		{"a websocket", anthropic, in("Content-Type", "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Type"), 426, "upgrade"},
		{"no key", anthropic, in("X-Api-Key: SENTINEL\r\n", ""), 403, "credential"},
		{"another key", anthropic, in("SENTINEL", "sk-ant-api03-attacker"), 403, "credential"},
		{"two keys", anthropic, in("X-Api-Key: SENTINEL", "X-Api-Key: SENTINEL\r\nAuthorization: Bearer x"), 403, "credential"},
		{"a cookie", anthropic, in("X-Api-Key: SENTINEL", "X-Api-Key: SENTINEL\r\nCookie: a=b"), 403, "credential"},
		{"a key in the query", google, post(google, "/v1beta/models/m:generateContent?key=SENTINEL", "X-Goog-Api-Key", `{}`), 403, "credential"},
		{"a packed body", anthropic, in("Content-Type", "Content-Encoding: gzip\r\nContent-Type"), 415, "content-encoding"},
		{"a form", openai, strings.Replace(post(openai, "/v1/responses", "Authorization", `a=b`), "application/json", "application/x-www-form-urlencoded", 1), 415, "content-type"},
		{"33 MB", anthropic, in("Content-Length: 13", "Content-Length: 34603008"), 413, "body-too-large"},
		{"duplicate keys", anthropic, post(anthropic, "/v1/messages", "X-Api-Key", `{"tools":[],"tools":[{"type":"web_search_20250305"}]}`), 400, "body-not-strict-json"},
		{"remote MCP", anthropic, post(anthropic, "/v1/messages", "X-Api-Key", `{"mcp_servers":[{"type":"url","url":"https://evil.org"}]}`), 403, "body-policy"},
		{"a stored response", openai, post(openai, "/v1/responses", "Authorization", `{"previous_response_id":"r"}`), 403, "body-policy"},
		{"a web search", openai, post(openai, "/v1/chat/completions", "Authorization", `{"web_search_options":{}}`), 403, "body-policy"},
		{"a file of Google's", google, post(google, "/v1beta/models/m:generateContent", "X-Goog-Api-Key", `{"contents":[{"parts":[{"file_data":{"file_uri":"https://evil.org"}}]}]}`), 403, "body-policy"},
		{"an online model", router, post(router, "/api/v1/chat/completions", "Authorization", `{"model":"x/y:online"}`), 403, "body-policy"},
		{"no login", chatgpt, post(chatgpt, "/backend-api/codex/responses", "Authorization", `{"input":"x"}`), 401, "no-credential"},
	}
}

// Each attack on the running command is answered with its status, leaves exactly
// one line in the audit, and the upstream hears of none.
func TestProxyMITMUnderAttack(t *testing.T) {
	var heard atomic.Int64
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	upstream.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			heard.Add(1)
		}
	}
	upstream.StartTLS()
	defer upstream.Close()
	env := map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-api03-the-real-key-1", "OPENAI_API_KEY": "sk-the-real-key-22222222",
		"GEMINI_API_KEY": "AIzaSy-the-real-key-3333", "OPENROUTER_API_KEY": "sk-or-v1-the-real-key-44",
	}
	r := launchMITM(t, t.TempDir(), upstream, []string{"anthropic", "openai", "chatgpt", "google", "openrouter"},
		env,
		"api.anthropic.com="+upstream.URL, "api.openai.com="+upstream.URL, "chatgpt.com="+upstream.URL,
		"generativelanguage.googleapis.com="+upstream.URL, "openrouter.ai="+upstream.URL)
	lines := 0
	for _, a := range attacks() {
		status := r.try(a)
		if status != a.status {
			t.Errorf("%s: status %d, want %d", a.name, status, a.status)
		}
		reasons := r.reasons(t, lines+1)
		if fresh := reasons[lines:]; len(fresh) != 1 || fresh[0] != a.reason {
			t.Errorf("%s: the audit says %q, want %s", a.name, fresh, a.reason)
		}
		lines = len(reasons)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the upstream saw %d connections", n)
	}
	if got := len(r.reasons(t, lines)); got != lines {
		t.Errorf("%d lines in the audit, want %d", got, lines)
	}
	log, err := os.ReadFile(r.audit)
	if err != nil || bytes.Contains(append(log, r.stderr.Bytes()...), []byte("the-real-key")) {
		t.Errorf("a real key stands in a log, %v", err)
	}
}

// try makes an attack and returns the status of the answer, or 0.
func (r *mitmRun) try(a attack) int {
	r.t.Helper()
	c, err := net.Dial("unix", r.ready.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	send := a.send
	s := c
	if a.server != "" {
		host := "api.anthropic.com"
		if sentinel := r.ready.Sentinels[a.server]; sentinel != "" {
			host = a.server
			if strings.Contains(send, "Authorization: SENTINEL") {
				sentinel = "Bearer " + sentinel
			}
			send = strings.ReplaceAll(send, "SENTINEL", sentinel)
		}
		_, _ = fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", host, host)
		established := make([]byte, len("HTTP/1.1 200 Connection Established\r\n\r\n"))
		if _, err := io.ReadFull(c, established); err != nil {
			r.t.Fatalf("%s: %v", a.name, err)
		}
		roots := x509.NewCertPool()
		certificate, err := os.ReadFile(r.ready.CA)
		if err != nil || !roots.AppendCertsFromPEM(certificate) {
			r.t.Fatal(err)
		}
		t := tls.Client(c, &tls.Config{RootCAs: roots, ServerName: a.server})
		if t.Handshake() != nil {
			return 0
		}
		s = t
	}
	_, _ = io.WriteString(s, send)
	res, err := http.ReadResponse(bufio.NewReader(s), nil)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// reasons are those of all refusals in the audit, once there are so many: a
// handshake that fails is recorded after the client has learned of it.
func (r *mitmRun) reasons(t *testing.T, atLeast int) []string {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		var all []string
		if err := audit.Read(r.audit, func(l audit.Line) error {
			if l.Plane == audit.PlaneHTTP && l.Decision != audit.Allow {
				all = append(all, l.Reason)
			}
			return nil
		}); err == nil && len(all) >= atLeast || time.Now().After(deadline) {
			return all
		}
	}
}
