package mitm

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// refusal is one attack, and how it must end.
type refusal struct {
	name   string
	send   func(s *harness) string
	status string // of the answer; empty when there is none
	reason Reason
}

func raw(t string) func(*harness) string { return func(*harness) string { return t } }

func edited(edits ...string) func(*harness) string {
	return func(s *harness) string { return s.message(edits...) }
}

// checkRefused makes sure that a refusal left one record and nothing else.
func checkRefused(t *testing.T, s *harness, reason Reason) Record {
	t.Helper()
	s.awaitRecords(1)
	all := s.takeRecords()
	if len(all) != 1 || all[0].Reason != reason || all[0].Decision == Allow {
		t.Fatalf("records %+v, want one refusal for %s", all, reason)
	}
	if n := s.conns.Load(); n != 0 {
		t.Fatalf("the upstream saw %d connections", n)
	}
	return all[0]
}

func TestOuterPlaneRefuses(t *testing.T) {
	s := newHarness(t, nil)
	connect := func(target, rest string) func(*harness) string {
		return raw("CONNECT " + target + " HTTP/1.1\r\n" + rest + "\r\n")
	}
	host := "Host: api.anthropic.com:443\r\n"
	for _, c := range []refusal{
		{"other host", connect("example.com:443", "Host: example.com:443\r\n"), "403", ReasonConnectHost},
		{"other port", connect("api.anthropic.com:80", "Host: api.anthropic.com:80\r\n"), "403", ReasonPort},
		{"port 4430", connect("api.anthropic.com:4430", "Host: api.anthropic.com:4430\r\n"), "403", ReasonPort},
		{"port with zero", connect("api.anthropic.com:0443", host), "400", ReasonTarget},
		{"no port", connect("api.anthropic.com", host), "400", ReasonTarget},
		{"empty port", connect("api.anthropic.com:", host), "400", ReasonTarget},
		{"named port", connect("api.anthropic.com:https", host), "400", ReasonTarget},
		{"user", connect("user@api.anthropic.com:443", host), "400", ReasonTarget},
		{"path", connect("api.anthropic.com:443/x", host), "400", ReasonTarget},
		{"query", connect("api.anthropic.com:443?x", host), "400", ReasonTarget},
		{"leading slash", connect("/api.anthropic.com:443", host), "400", ReasonTarget},
		{"scheme", connect("https://api.anthropic.com:443", host), "400", ReasonTarget},
		{"trailing dot", connect("api.anthropic.com.:443", host), "400", ReasonTarget},
		{"wildcard", connect("*.anthropic.com:443", host), "400", ReasonTarget},
		{"percent", connect("api%2eanthropic.com:443", host), "400", ReasonTarget},
		{"address", connect("127.0.0.1:443", "Host: 127.0.0.1:443\r\n"), "403", ReasonConnectHost},
		{"address in brackets", connect("[::1]:443", "Host: [::1]:443\r\n"), "400", ReasonTarget},
		{"metadata address", connect("169.254.169.254:443", "Host: 169.254.169.254:443\r\n"), "403", ReasonConnectHost},
		{"localhost", connect("localhost:443", "Host: localhost:443\r\n"), "400", ReasonTarget},
		{"subdomain", connect("x.api.anthropic.com:443", "Host: x.api.anthropic.com:443\r\n"), "403", ReasonConnectHost},
		{"suffix", connect("api.anthropic.com.evil.org:443", "Host: api.anthropic.com.evil.org:443\r\n"), "403", ReasonConnectHost},
		{"NUL", connect("api.anthropic.com\x00.evil.org:443", host), "400", ReasonMalformed},
		{"not ASCII", connect("api.anthropic.c\xc3\xb6m:443", host), "400", ReasonMalformed},
		{"punycode", connect("xn--pi-anthropic-.com:443", "Host: xn--pi-anthropic-.com:443\r\n"), "400", ReasonTarget},
		{"tab in the line", raw("CONNECT\tapi.anthropic.com:443\tHTTP/1.1\r\n" + host + "\r\n"), "400", ReasonMalformed},
		{"two spaces", raw("CONNECT  api.anthropic.com:443 HTTP/1.1\r\n" + host + "\r\n"), "400", ReasonMalformed},
		{"space in the target", connect("api.anthropic.com :443", host), "400", ReasonMalformed},
		{"version in lower case", raw("CONNECT api.anthropic.com:443 http/1.1\r\n" + host + "\r\n"), "400", ReasonMalformed},
		{"other Host", connect("api.anthropic.com:443", "Host: evil.org\r\n"), "400", ReasonHostMismatch},
		{"no Host", connect("api.anthropic.com:443", ""), "400", ReasonHost},
		{"two Hosts", connect("api.anthropic.com:443", host+host), "400", ReasonHost},
		{"body", connect("api.anthropic.com:443", host+"Content-Length: 3\r\n"), "400", ReasonConnectBody},
		{"chunked", connect("api.anthropic.com:443", host+"Transfer-Encoding: chunked\r\n"), "400", ReasonConnectBody},
		{"expectation", connect("api.anthropic.com:443", host+"Expect: 100-continue\r\n"), "417", ReasonExpect},
		{"both lengths", connect("api.anthropic.com:443", host+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), "400", ReasonCoding},
		{"lower-case method", raw("connect api.anthropic.com:443 HTTP/1.1\r\n" + host + "\r\n"), "400", ReasonTarget},
		{"HTTP/2", raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "505", ReasonVersion},
		{"HTTP/0.9", raw("GET /\r\n\r\n"), "400", ReasonMalformed},
		{"bare LF", raw("CONNECT api.anthropic.com:443 HTTP/1.1\nHost: api.anthropic.com:443\n\n"), "400", ReasonMalformed},
		{"plain http", raw("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"), "403", ReasonPlainHTTP},
		{"plain http to a provider", raw("GET http://api.anthropic.com/api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"), "403", ReasonPlainHTTP},
		{"https in absolute form", raw("GET https://api.anthropic.com/api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"), "403", ReasonPlainHTTP},
		{"origin form", raw("GET / HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"), "405", ReasonOriginForm},
		{"asterisk", raw("OPTIONS * HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n"), "400", ReasonTarget},
		{"websocket", raw("GET ws://example.com/ HTTP/1.1\r\nHost: example.com\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"), "403", ReasonUpgrade},
		{"TLS without CONNECT", raw("\x16\x03\x01\x00\xa5\r\n\r\n"), "400", ReasonMalformed},
		{"health with another method", raw("POST http://ironcurtain.invalid/__ironcurtain/health HTTP/1.1\r\nHost: ironcurtain.invalid\r\n\r\n"), "403", ReasonPlainHTTP},
		{"big header", raw("CONNECT api.anthropic.com:443 HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 70<<10) + "\r\n\r\n"), "431", ReasonHeaderTooLarge},
		{"many headers", raw("CONNECT api.anthropic.com:443 HTTP/1.1\r\n" + host + strings.Repeat("X: a\r\n", 200) + "\r\n"), "431", ReasonHeaderCount},
		{"long name", raw("CONNECT api.anthropic.com:443 HTTP/1.1\r\n" + host + strings.Repeat("x", 60<<10) + ": \x01\r\n\r\n"), "400", ReasonMalformed},
		{"unfinished head", raw("CONNECT api.anthropic.com:443 HTTP/1.1\r\n" + host), "", ReasonTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			got := s.raw(c.send(s))
			if c.status == "" && got != "" || c.status != "" && !strings.HasPrefix(got, "HTTP/1.1 "+c.status+" ") {
				t.Errorf("answer %q, want status %q", got, c.status)
			}
			if r := checkRefused(t, s, c.reason); len(r.Detail) > 300 {
				t.Errorf("the record has %d bytes of detail", len(r.Detail))
			}
		})
	}
	s.t = t
}

// TestWhatClientsConnectWith sends the CONNECT of each HTTP client that agents use.
func TestWhatClientsConnectWith(t *testing.T) {
	s := newHarness(t, nil)
	const target, host = "CONNECT api.anthropic.com:443 HTTP/1.", "Host: api.anthropic.com:443\r\n"
	for name, head := range map[string]string{
		"curl":             target + "1\r\n" + host + "User-Agent: curl/8.14.1\r\nProxy-Connection: Keep-Alive\r\n\r\n",
		"undici":           target + "1\r\nhost: api.anthropic.com:443\r\nconnection: close\r\n\r\n",
		"Go":               target + "1\r\n" + host + "User-Agent: Go-http-client/1.1\r\n\r\n",
		"Bun":              target + "1\r\n" + host + "Proxy-Connection: Keep-Alive\r\n\r\n",
		"hyper":            target + "1\r\n" + host + "\r\n",
		"Python 3.12":      target + "1\r\n" + host + "\r\n",
		"Python 3.11":      target + "0\r\n\r\n",
		"with a name only": target + "1\r\nHost: api.anthropic.com\r\nContent-Length: 0\r\n\r\n",
		"with credentials": target + "1\r\n" + host + "Proxy-Authorization: Basic YTpi\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			c := s.dial()
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, head); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); line != "HTTP/1.1 200 Connection Established\r\n" {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
	s.t = t
}

func TestHealth(t *testing.T) {
	s := newHarness(t, nil)
	got := s.raw("GET http://ironcurtain.invalid/__ironcurtain/health HTTP/1.1\r\nHost: ironcurtain.invalid\r\n\r\n")
	if !strings.HasSuffix(got, "\r\n\r\nIRONCURTAIN_OK/1") {
		t.Errorf("health answered %q", got)
	}
}

func TestTLSPlaneRefuses(t *testing.T) {
	const host = "api.anthropic.com"
	for _, c := range []struct {
		name   string
		config *tls.Config
		reason Reason
	}{
		{"other server name", &tls.Config{ServerName: "api.openai.com"}, ReasonSNI},
		{"foreign server name", &tls.Config{ServerName: "evil.org"}, ReasonSNI},
		{"HTTP/2 only", &tls.Config{ServerName: host, NextProtos: []string{"h2"}}, ReasonHandshake},
		{"TLS 1.1", &tls.Config{ServerName: host, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, ReasonHandshake},
		{"client without our authority", &tls.Config{ServerName: host}, ReasonDistrust},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHarness(t, nil)
			if c.reason != ReasonDistrust {
				c.config.RootCAs = s.roots
			}
			if err := tls.Client(s.connect(host), c.config).Handshake(); err == nil {
				t.Error("the handshake succeeded")
			}
			checkRefused(t, s, c.reason)
		})
	}
	t.Run("client like OpenSSL", func(t *testing.T) {
		s := newHarness(t, nil)
		if err := tls.Client(&plainAlert{Conn: s.connect(host)}, &tls.Config{ServerName: host}).Handshake(); err == nil {
			t.Error("the handshake succeeded")
		}
		checkRefused(t, s, ReasonDistrust)
	})
	t.Run("plain text in the tunnel", func(t *testing.T) {
		s := newHarness(t, nil)
		c := s.connect(host)
		_, _ = io.WriteString(c, "GET /api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n")
		if got, _ := io.ReadAll(c); len(got) != 0 {
			t.Errorf("answered %q", got)
		}
		checkRefused(t, s, ReasonNotTLS)
	})
	t.Run("silence", func(t *testing.T) {
		s := newHarness(t, func(c *Config) { c.Limits.HandshakeTime = 50 * time.Millisecond })
		_, _ = io.ReadAll(s.connect(host))
		checkRefused(t, s, ReasonHSTimeout)
	})
	t.Run("broken off", func(t *testing.T) {
		s := newHarness(t, nil)
		_ = s.connect(host).Close()
		checkRefused(t, s, ReasonHandshake)
	})
	t.Run("another session's authority", func(t *testing.T) {
		s, other := newHarness(t, nil), newHarness(t, nil)
		config := &tls.Config{ServerName: host, RootCAs: other.roots}
		if err := tls.Client(s.connect(host), config).Handshake(); err == nil {
			t.Error("a certificate of one session is taken in another")
		}
		checkRefused(t, s, ReasonDistrust)
	})
}

// plainAlert sends what follows the first message of a handshake as an alert in
// plain text: unknown authority.
type plainAlert struct {
	net.Conn
	begun bool
}

func (c *plainAlert) Write(p []byte) (int, error) {
	if c.begun {
		_, err := c.Conn.Write([]byte{0x15, 3, 3, 0, 2, 2, 48})
		return len(p), err
	}
	c.begun = true
	return c.Conn.Write(p)
}

func TestTLSPlaneAccepts(t *testing.T) {
	s := newHarness(t, nil)
	for name, config := range map[string]*tls.Config{
		"no server name":  {InsecureSkipVerify: true},
		"upper case":      {ServerName: "API.Anthropic.com", RootCAs: s.roots},
		"h2 and http/1.1": {ServerName: "api.anthropic.com", RootCAs: s.roots, NextProtos: []string{"h2", "http/1.1"}},
		"TLS 1.2":         {ServerName: "api.anthropic.com", RootCAs: s.roots, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			c := tls.Client(s.connect("api.anthropic.com"), config)
			if err := c.Handshake(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if p := c.ConnectionState().NegotiatedProtocol; p != "" && p != "http/1.1" {
				t.Errorf("%s: negotiated %q", name, p)
			}
		})
	}
}

// requestAttacks are sent inside a tunnel to api.anthropic.com.
func requestAttacks() []refusal {
	const line = "POST /v1/messages?beta=true HTTP/1.1"
	target := func(to string) func(*harness) string { return edited(line, "POST "+to+" HTTP/1.1") }
	add := func(header string) func(*harness) string {
		return edited("Anthropic-Version: 2023-06-01\r\n", "Anthropic-Version: 2023-06-01\r\n"+header+"\r\n")
	}
	get := func(path, rest string) func(*harness) string {
		return func(s *harness) string {
			return "GET " + path + " HTTP/1.1\r\nHost: api.anthropic.com\r\nX-Api-Key: " + s.proxy.Sentinel("anthropic") + "\r\n" + rest + "\r\n"
		}
	}
	body := func(b string) func(*harness) string {
		return func(s *harness) string {
			return s.withBody("api.anthropic.com", "/v1/messages", "X-Api-Key", "anthropic", b)
		}
	}
	key := func(header string) func(*harness) string {
		return func(s *harness) string {
			return s.message("X-Api-Key: "+s.proxy.Sentinel("anthropic")+"\r\n", strings.ReplaceAll(header, "SENTINEL", s.proxy.Sentinel("anthropic")))
		}
	}
	return []refusal{
		// The request-target.
		{"percent in the path", target("/v1/%6dessages"), "400", ReasonRawTarget},
		{"encoded slash", target("/v1%2fmessages"), "400", ReasonRawTarget},
		{"two slashes", target("//v1/messages"), "400", ReasonRawTarget},
		{"two slashes inside", target("/v1//messages"), "400", ReasonRawTarget},
		{"dot segment", target("/v1/./messages"), "400", ReasonRawTarget},
		{"dot-dot segment", target("/v1/x/../messages"), "400", ReasonRawTarget},
		{"backslash", target("/v1\\messages"), "400", ReasonRawTarget},
		{"semicolon", target("/v1/messages;x=1"), "400", ReasonRawTarget},
		{"fragment", target("/v1/messages#x"), "400", ReasonRawTarget},
		{"trailing slash", target("/v1/messages/"), "400", ReasonRawTarget},
		{"upper case", target("/V1/messages"), "403", ReasonEndpoint},
		{"absolute form", target("https://api.anthropic.com/v1/messages"), "400", ReasonAbsoluteForm},
		{"absolute form elsewhere", target("http://evil.org/v1/messages"), "400", ReasonAbsoluteForm},
		{"no slash", target("v1/messages"), "400", ReasonRawTarget},
		{"asterisk", target("*"), "400", ReasonRawTarget},
		{"files", target("/v1/files"), "403", ReasonEndpoint},
		{"batches", target("/v1/messages/batches"), "403", ReasonEndpoint},
		{"telemetry", target("/api/event_logging/batch"), "403", ReasonEndpoint},
		{"login", target("/v1/oauth/token"), "403", ReasonEndpoint},
		{"unlisted query", target("/v1/messages?beta=true&x=1"), "403", ReasonQuery},
		{"other query value", target("/v1/messages?beta=false"), "403", ReasonQuery},
		{"repeated query", target("/v1/messages?beta=true&beta=true"), "403", ReasonQuery},
		{"encoded query", target("/v1/messages?%62eta=true"), "403", ReasonQuery},
		{"key in the query", target("/v1/messages?key=abc"), "403", ReasonKey},
		{"key in the query alone", func(s *harness) string {
			return s.message("X-Api-Key: "+s.proxy.Sentinel("anthropic")+"\r\n", "", "?beta=true", "?api_key="+s.proxy.Sentinel("anthropic"))
		}, "403", ReasonKey},
		// The method and the version.
		{"lower-case method", edited("POST ", "post "), "405", ReasonMethod},
		{"CONNECT inside", edited(line, "CONNECT evil.org:443 HTTP/1.1"), "400", ReasonRawTarget},
		{"CONNECT with a path", edited("POST ", "CONNECT "), "405", ReasonMethod},
		{"TRACE", edited("POST ", "TRACE "), "405", ReasonMethod},
		{"PUT", edited("POST ", "PUT "), "403", ReasonEndpoint},
		{"GET of a POST endpoint", get("/v1/messages", ""), "403", ReasonEndpoint},
		{"HTTP/1.0", edited("HTTP/1.1", "HTTP/1.0"), "505", ReasonVersion},
		{"HTTP/1.2", edited("HTTP/1.1", "HTTP/1.2"), "505", ReasonVersion},
		{"HTTP/2 by prior knowledge", raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "505", ReasonVersion},
		// Host.
		{"other Host", edited("Host: api.anthropic.com", "Host: evil.org"), "400", ReasonHostMismatch},
		{"other provider's Host", edited("Host: api.anthropic.com", "Host: api.openai.com"), "400", ReasonHostMismatch},
		{"Host with a port", edited("Host: api.anthropic.com", "Host: api.anthropic.com:80"), "400", ReasonHostMismatch},
		{"Host with a dot", edited("Host: api.anthropic.com", "Host: api.anthropic.com."), "400", ReasonHostMismatch},
		{"empty Host", edited("Host: api.anthropic.com", "Host:"), "400", ReasonHostMismatch},
		{"no Host", edited("Host: api.anthropic.com\r\n", ""), "400", ReasonHost},
		{"two Hosts", add("Host: api.anthropic.com"), "400", ReasonHost},
		// Framing.
		{"both lengths", add("Transfer-Encoding: chunked"), "400", ReasonCoding},
		{"two equal lengths", add("Content-Length: 72"), "400", ReasonLength},
		{"two lengths", add("Content-Length: 5"), "400", ReasonLength},
		{"list of lengths", edited("Content-Length: 72", "Content-Length: 72, 72"), "400", ReasonLength},
		{"signed length", edited("Content-Length: 72", "Content-Length: +72"), "400", ReasonLength},
		{"negative length", edited("Content-Length: 72", "Content-Length: -1"), "400", ReasonLength},
		{"hex length", edited("Content-Length: 72", "Content-Length: 0x48"), "400", ReasonLength},
		{"length with a leading zero", edited("Content-Length: 72", "Content-Length: 072"), "400", ReasonLength},
		{"gzip coding", edited("Content-Length: 72", "Transfer-Encoding: gzip"), "501", ReasonCoding},
		{"gzip and chunked", edited("Content-Length: 72", "Transfer-Encoding: gzip, chunked"), "501", ReasonCoding},
		{"chunked in capitals", edited("Content-Length: 72", "Transfer-Encoding: Chunked"), "501", ReasonCoding},
		{"vertical tab before chunked", edited("Content-Length: 72", "Transfer-Encoding: \x0bchunked"), "400", ReasonMalformed},
		{"coding twice", edited("Content-Length: 72", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), "400", ReasonCoding},
		{"coding twice, one unknown", edited("Content-Length: 72", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"), "400", ReasonCoding},
		{"chunk extension", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1;x=y\r\n{\r\n0\r\n\r\n"), "400", ReasonChunk},
		{"trailer", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Api-Key: x\r\n\r\n"), "400", ReasonChunk},
		{"announced trailer", add("Trailer: X-Api-Key"), "400", ReasonCoding},
		{"bare LF in a chunk", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\n{\r\n0\r\n\r\n"), "400", ReasonChunk},
		{"chunk of negative size", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n-1\r\n{\r\n0\r\n\r\n"), "400", ReasonChunk},
		{"chunk too long", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n"), "400", ReasonChunk},
		{"huge chunk size", edited("Content-Length: 72\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n{}"), "400", ReasonChunk},
		{"unknown expectation", add("Expect: 200-ok"), "417", ReasonExpect},
		{"bare LF", edited("Anthropic-Version: 2023-06-01\r\n", "Anthropic-Version: 2023-06-01\n"), "400", ReasonMalformed},
		{"bare CR", add("X: a\rX-Api-Key: b"), "400", ReasonMalformed},
		{"folded line", add("X: a\r\n b"), "400", ReasonMalformed},
		{"space before the colon", add("Content-Length : 72"), "400", ReasonMalformed},
		{"space before the name", edited("Host:", " Host:"), "400", ReasonMalformed},
		{"NUL in a value", add("X: a\x00b"), "400", ReasonMalformed},
		{"header without colon", add("nonsense"), "400", ReasonMalformed},
		{"header without name", add(": x"), "400", ReasonMalformed},
		{"not ASCII in a name", add("X\xc3\xa4: x"), "400", ReasonMalformed},
		{"empty line first", edited("POST ", "\r\nPOST "), "400", ReasonMalformed},
		{"Connection names the key", add("Connection: x-api-key"), "400", ReasonMalformed},
		{"big header", add("X: " + strings.Repeat("a", 70<<10)), "431", ReasonHeaderTooLarge},
		{"many headers", add(strings.Repeat("X: a\r\n", 200) + "X: b"), "431", ReasonHeaderCount},
		{"unfinished head", raw("POST /v1/messages HTTP/1.1\r\nHost: api"), "", ReasonTruncated},
		{"unfinished body", edited("Content-Length: 72", "Content-Length: 73"), "", ReasonTruncated},
		// Upgrades.
		{"websocket", add("Connection: Upgrade\r\nUpgrade: websocket"), "426", ReasonUpgrade},
		{"h2c", add("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"), "426", ReasonUpgrade},
		{"settings alone", add("HTTP2-Settings: AAMAAABkAAQAAP__"), "426", ReasonUpgrade},
		// The credential.
		{"no key", key(""), "403", ReasonKey},
		{"another key", key("X-Api-Key: sk-ant-api03-attacker\r\n"), "403", ReasonKey},
		{"empty key", key("X-Api-Key:\r\n"), "403", ReasonKey},
		{"sentinel cut short", func(s *harness) string {
			k := s.proxy.Sentinel("anthropic")
			return s.message(k, k[:len(k)-1])
		}, "403", ReasonKey},
		{"sentinel and more", key("X-Api-Key: SENTINELx\r\n"), "403", ReasonKey},
		{"sentinel in capitals", func(s *harness) string {
			k := s.proxy.Sentinel("anthropic")
			return s.message(k, strings.ToUpper(k))
		}, "403", ReasonKey},
		{"sentinel twice", key("X-Api-Key: SENTINEL\r\nX-Api-Key: SENTINEL\r\n"), "403", ReasonKey},
		{"sentinel in a list", key("X-Api-Key: SENTINEL, SENTINEL\r\n"), "403", ReasonKey},
		{"sentinel as bearer", key("Authorization: Bearer SENTINEL\r\n"), "403", ReasonKey},
		{"sentinel in both headers", key("X-Api-Key: SENTINEL\r\nAuthorization: Bearer SENTINEL\r\n"), "403", ReasonKey},
		{"own key beside the sentinel", key("X-Api-Key: SENTINEL\r\nAuthorization: Bearer sk-attacker\r\n"), "403", ReasonKey},
		{"own key after the sentinel", key("X-Api-Key: SENTINEL\r\nx-api-key: sk-attacker\r\n"), "403", ReasonKey},
		{"cookie beside the sentinel", key("X-Api-Key: SENTINEL\r\nCookie: sessionKey=abc\r\n"), "403", ReasonKey},
		{"proxy credential beside it", key("X-Api-Key: SENTINEL\r\nProxy-Authorization: Basic YTpi\r\n"), "403", ReasonKey},
		{"sentinel in a cookie", key("Cookie: SENTINEL\r\n"), "403", ReasonKey},
		{"sentinel in a custom header", key("X-Custom: SENTINEL\r\n"), "403", ReasonKey},
		{"other provider's sentinel", func(s *harness) string {
			return s.message(s.proxy.Sentinel("anthropic"), s.proxy.Sentinel("openai"))
		}, "403", ReasonKey},
		{"wrong key where none is needed", func(*harness) string {
			return "GET /api/hello HTTP/1.1\r\nHost: api.anthropic.com\r\nX-Api-Key: sk-attacker\r\n\r\n"
		}, "403", ReasonKey},
		// The body.
		{"GET with a body", get("/api/hello", "Content-Length: 2\r\n"), "400", ReasonUnexpected},
		{"gzip body", add("Content-Encoding: gzip"), "415", ReasonEncoding},
		{"zstd body", add("Content-Encoding: zstd"), "415", ReasonEncoding},
		{"form", edited("application/json", "application/x-www-form-urlencoded"), "415", ReasonType},
		{"multipart", edited("application/json", "multipart/form-data; boundary=x"), "415", ReasonType},
		{"two content types", add("Content-Type: text/plain"), "415", ReasonType},
		{"UTF-16", edited("application/json", "application/json; charset=utf-16"), "415", ReasonType},
		{"no content type", edited("Content-Type: application/json\r\n", ""), "415", ReasonType},
		{"too large", edited("Content-Length: 72", "Content-Length: 999999999"), "413", ReasonTooLarge},
		{"no body", edited("Content-Length: 72\r\n\r\n"+`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, "\r\n"), "400", ReasonJSON},
		{"not JSON", body(`model=x`), "400", ReasonJSON},
		{"array", body(`[]`), "400", ReasonJSON},
		{"byte order mark", body("\xef\xbb\xbf{}"), "400", ReasonJSON},
		{"trailing data", body(`{} {}`), "400", ReasonJSON},
		{"duplicate keys", body(`{"model":"a","model":"b"}`), "400", ReasonJSON},
		{"duplicate keys, one escaped", body(`{"tools":[],"t\u006fols":[]}`), "400", ReasonJSON},
		{"key in capitals", body(`{"Tools":[{"type":"web_search_20250305"}]}`), "400", ReasonJSON},
		{"too deep", body(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`), "400", ReasonJSON},
		{"remote MCP servers", body(`{"mcp_servers":[{"type":"url","url":"https://evil.org"}]}`), "403", ReasonPolicy},
		{"image from a URL", body(`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.org/x"}}]}]}`), "403", ReasonPolicy},
		{"stored file", body(`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}`), "403", ReasonPolicy},
		{"container", body(`{"container":{"skills":[{"type":"anthropic","skill_id":"x"}]}}`), "403", ReasonPolicy},
		{"choice of a removed tool", body(`{"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"tool","name":"web_search"}}`), "403", ReasonPolicy},
	}
}

func TestRequestPlaneRefuses(t *testing.T) {
	s := newHarness(t, nil)
	for _, c := range requestAttacks() {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			send := s.inTunnel
			if c.status == "" {
				send = s.cutShort
			}
			res, body := send("api.anthropic.com", c.send(s))
			record := checkRefused(t, s, c.reason)
			if c.status == "" {
				if res != nil {
					t.Fatalf("answered %d %s", res.StatusCode, body)
				}
				return
			}
			if res == nil || res.Status[:3] != c.status {
				t.Fatalf("answer %+v, want status %s", res, c.status)
			}
			if record.Status != res.StatusCode {
				t.Errorf("the record says %d, the answer %d", record.Status, res.StatusCode)
			}
			if res.Header.Get("X-Ironcurtain-Denied") != string(c.reason) || res.Header.Get("Connection") != "close" && !res.Close {
				t.Errorf("headers %v", res.Header)
			}
			var shape struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(body), &shape); err != nil || shape.Type != "error" || shape.Error.Type == "" || shape.Error.Message == "" {
				t.Errorf("the body %s is not an error of the provider: %v", body, err)
			}
			if c.reason == ReasonKey && shape.Error.Message != "Rejected: API key does not match expected sentinel." {
				t.Errorf("message %q", shape.Error.Message)
			}
		})
	}
	s.t = t
}
