package mitm

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Answers that two parsers could read differently, or that would change the protocol of
// the connection, do not pass.
func TestRawAnswersThatDoNotPass(t *testing.T) {
	s := newHarness(t, nil)
	for name, raw := range map[string]string{
		"status 999":              "HTTP/1.1 999 KEY\r\nContent-Length: 2\r\n\r\n{}",
		"status 600":              "HTTP/1.1 600 X\r\nContent-Length: 2\r\n\r\n{}",
		"status 099":              "HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\n{}",
		"status of four digits":   "HTTP/1.1 2000 X\r\nContent-Length: 2\r\n\r\n{}",
		"no status":               "HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/2":                  "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		"no HTTP":                 "KEY KEY KEY\r\n\r\n",
		"bare line feeds":         "HTTP/1.1 200 OK\nContent-Length: 3\n\nKEY",
		"both lengths":            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nKEY",
		"two lengths":             "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nKEYx",
		"signed length":           "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nKEY",
		"coded and chunked":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nKEY\r\n0\r\n\r\n",
		"another protocol":        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nX: KEY\r\n\r\nKEY",
		"a redirect with the key": "HTTP/1.1 307 X\r\nLocation: https://evil.org/KEY\r\nContent-Length: 0\r\n\r\n",
		"an encoded answer":       "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nKEY",
		"a head without an end":   "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n",
		"nothing but hints":       strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: KEY\r\n\r\n", 500),
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.takeRecords()
			s.answer(func(w http.ResponseWriter, _ *http.Request) {
				c, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = c.Write([]byte(strings.ReplaceAll(raw, "KEY", realKey)))
				_ = c.Close()
			})
			res, body := s.inTunnel("api.anthropic.com", s.message())
			if res == nil || res.StatusCode != 502 || !strings.Contains(body, `"type":"error"`) || strings.Contains(fmt.Sprint(res.Header)+body, "real-key") {
				t.Errorf("answer %+v %s", res, body)
			}
			if all := s.awaitRecords(2); len(all) != 2 || all[1].Decision != Failed || all[1].Status != 502 {
				t.Errorf("records %+v", all)
			}
		})
	}
	s.t = t
}

// hostile are requests beyond those of requestAttacks, at every provider.
var hostile = []struct {
	name, provider string
	edits          []string // of a request that is right, in pairs
	status         string
	reason         Reason
}{
	// Endpoints that renew tokens, store files and run other things.
	{"tokens", "anthropic", []string{"/v1/messages?beta=true", "/v1/oauth/token"}, "403", ReasonEndpoint},
	{"batches", "anthropic", []string{"/v1/messages?beta=true", "/v1/messages/batches"}, "403", ReasonEndpoint},
	{"path in capitals", "anthropic", []string{"/v1/messages", "/V1/Messages"}, "403", ReasonEndpoint},
	{"trailing slash", "anthropic", []string{"/v1/messages?", "/v1/messages/?"}, "400", ReasonRawTarget},
	{"another value", "anthropic", []string{"beta=true", "beta=false"}, "403", ReasonQuery},
	{"query twice", "anthropic", []string{"beta=true", "beta=true&beta=true"}, "403", ReasonQuery},
	{"model with a slash", "google", []string{"models/gemini-3:", "models/a/b:"}, "403", ReasonEndpoint},
	{"model of dots", "google", []string{"models/gemini-3:", "models/..:"}, "403", ReasonEndpoint},
	{"upload", "google", []string{"/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "/upload/v1beta/files"}, "403", ReasonEndpoint},
	{"threads", "responses", []string{"/v1/responses", "/v1/threads"}, "403", ReasonEndpoint},
	// The credential.
	{"two spaces", "responses", []string{"Bearer ", "Bearer  "}, "403", ReasonKey},
	{"a tab", "responses", []string{"Bearer ", "Bearer\t"}, "403", ReasonKey},
	{"no scheme", "responses", []string{"Bearer ", ""}, "403", ReasonKey},
	{"another scheme", "chat", []string{"Bearer ", "Token "}, "403", ReasonKey},
	{"another field", "chat", []string{"Authorization: Bearer ", "Api-Key: "}, "403", ReasonKey},
	{"a list", "chat", []string{"Authorization: Bearer ", "Authorization: Bearer x, Bearer "}, "403", ReasonKey},
	{"key in the query", "google", []string{"?alt=sse", "?alt=sse&key=x"}, "403", ReasonKey},
	// Framing.
	{"chunk in hex notation", "responses", []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n"}, "400", ReasonChunk},
	{"chunk with a space", "responses", []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2 \r\n{}\r\n0\r\n\r\n"}, "400", ReasonChunk},
	{"chunk with an underscore", "responses", []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n0_2\r\n{}\r\n0\r\n\r\n"}, "400", ReasonChunk},
	{"chunk without a size", "responses", []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n\r\n{}\r\n0\r\n\r\n"}, "400", ReasonChunk},
	{"space inside a length", "chat", []string{"Content-Length: 2", "Content-Length: 2 2"}, "400", ReasonLength},
	{"empty length", "chat", []string{"Content-Length: 2", "Content-Length: "}, "400", ReasonLength},
	{"length beyond all numbers", "chat", []string{"Content-Length: 2", "Content-Length: 99999999999999999999"}, "400", ReasonLength},
	{"Connection names the length", "google", []string{"Content-Length: 2", "Connection: close, content-length\r\nContent-Length: 2"}, "400", ReasonMalformed},
	{"next line in a value", "google", []string{"Content-Length: 2", "X: a\x85b\r\nContent-Length: 2"}, "400", ReasonMalformed},
	{"DEL in a value", "google", []string{"Content-Length: 2", "X: a\x7fb\r\nContent-Length: 2"}, "400", ReasonMalformed},
	// The body's kind.
	{"two codings", "chat", []string{"Content-Length", "Content-Encoding: identity, gzip\r\nContent-Length"}, "415", ReasonEncoding},
	{"two kinds in one", "chat", []string{"application/json", "application/json, text/plain"}, "415", ReasonType},
	{"lines of JSON", "responses", []string{"application/json", "application/x-ndjson"}, "415", ReasonType},
	{"UTF-7", "google", []string{"application/json", "application/json; charset=utf-7"}, "415", ReasonType},
}

func TestHostileRequests(t *testing.T) {
	s := newHarness(t, nil)
	for _, c := range hostile {
		t.Run(c.provider+" "+c.name, func(t *testing.T) {
			s.t = t
			w := wires()[c.provider]
			text := w.request(s, "{}")
			for i := 0; i < len(c.edits); i += 2 {
				if !strings.Contains(text, c.edits[i]) {
					t.Fatalf("the request holds no %q", c.edits[i])
				}
				text = strings.Replace(text, c.edits[i], c.edits[i+1], 1)
			}
			res, body := s.inTunnel(w.host, text)
			checkRefused(t, s, c.reason)
			if res == nil || res.Status[:3] != c.status || res.Header.Get("X-Ironcurtain-Denied") != string(c.reason) {
				t.Errorf("answer %+v %s, want status %s", res, body, c.status)
			}
		})
	}
	s.t = t
}
