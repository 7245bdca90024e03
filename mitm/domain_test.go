package mitm

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// newDomainHarness approves docs.example.org, whose requests go to the test's upstream.
func newDomainHarness(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	s := newHarness(t, func(c *Config) {
		c.Domains = true
		c.Upstreams["docs.example.org"] = c.Upstreams["api.anthropic.com"]
		if change != nil {
			change(c)
		}
	})
	if err := s.proxy.AddDomain("docs.example.org", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return s
}

// mustAdd approves a domain.
func (s *harness) mustAdd(name string, until time.Time) {
	s.t.Helper()
	if err := s.proxy.AddDomain(name, until); err != nil {
		s.t.Fatal(err)
	}
}

func TestApprovedDomain(t *testing.T) {
	s := newDomainHarness(t, nil)
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Location", "https://other.example.org/")
		w.WriteHeader(302)
		_, _ = io.WriteString(w, "moved "+r.RequestURI)
	})
	get := "GET /a%20b/%2e;c?q=1&r=%26 HTTP/1.1\r\nHost: docs.example.org\r\nUser-Agent: curl\r\nX-Secret: s\r\n\r\n"
	res, body := s.inTunnel("docs.example.org", get)
	if res == nil || res.StatusCode != 302 || body != "moved /a%20b/%2e;c?q=1&r=%26" {
		t.Fatalf("answer %+v %s", res, body)
	}
	if res.Header.Get("Location") == "" || res.Header.Get("Set-Cookie") != "" {
		t.Errorf("header %v", res.Header)
	}
	if h := s.requests[0].Header; h.Get("X-Secret")+h.Get("X-Api-Key")+h.Get("Authorization") != "" {
		t.Errorf("the domain saw %v", h)
	}
	c := s.tunnel("docs.example.org")
	_, _ = io.WriteString(c, strings.Replace(get, "GET", "HEAD", 1)+get)
	r := bufio.NewReader(c)
	head, err := http.ReadResponse(r, &http.Request{Method: "HEAD"})
	if err != nil || head.StatusCode != 302 {
		t.Fatalf("HEAD: %+v, %v", head, err)
	}
	if res, _ := readAnswer(t, r); res == nil || res.StatusCode != 302 {
		t.Errorf("after HEAD: %+v", res)
	}
}

func TestApprovedDomainRefuses(t *testing.T) {
	s := newDomainHarness(t, nil)
	send := func(line, fields string) func(*harness) string {
		return raw(line + " HTTP/1.1\r\nHost: docs.example.org\r\n" + fields + "\r\n")
	}
	for _, c := range []refusal{
		{"a credential", send("GET /", "Authorization: Bearer x\r\n"), "403", ReasonKey},
		{"a cookie", send("GET /", "Cookie: x\r\n"), "403", ReasonKey},
		{"the sentinel", func(s *harness) string {
			return "GET / HTTP/1.1\r\nHost: docs.example.org\r\nX-Api-Key: " + s.proxy.Sentinel("anthropic") + "\r\n\r\n"
		}, "403", ReasonKey},
		{"POST without anybody to ask", send("POST /x", "Content-Length: 0\r\n"), "403", ReasonAsk},
		{"an archive of npm's", send("GET /left/-/left-2.0.4.tgz", ""), "403", ReasonPackage},
		{"a Python project", send("GET /root/simple/left/", ""), "403", ReasonPackage},
		{"a wheel", send("GET /files/left-1.0-py3-none-any.whl", ""), "403", ReasonPackage},
		{"a Go module", send("GET /code.example/left/@v/v1.0.0.zip", ""), "403", ReasonPackage},
		{"a crate", send("GET /api/v1/crates/left/1.0.0/download", ""), "403", ReasonPackage},
		{"a Debian package", send("HEAD /pool/main/l/left/left_1.0_amd64.deb", ""), "403", ReasonPackage},
		{"body of a GET", send("GET /x", "Content-Length: 1\r\n"), "400", ReasonUnexpected},
		{"two slashes first", send("GET //evil.org/", ""), "400", ReasonRawTarget},
		{"backslash", send(`GET /\evil.org`, ""), "400", ReasonRawTarget},
		{"broken escape", send("GET /%zz", ""), "400", ReasonRawTarget},
		{"upgrade", send("GET /", "Connection: upgrade\r\nUpgrade: websocket\r\n"), "426", ReasonUpgrade},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			if res, body := s.inTunnel("docs.example.org", c.send(s)); res == nil || res.Status[:3] != c.status {
				t.Errorf("answer %+v %s", res, body)
			}
			checkRefused(t, s, c.reason)
		})
	}
	s.t = t
}

func TestApprovedDomainEnds(t *testing.T) {
	s := newDomainHarness(t, nil)
	get := "GET / HTTP/1.1\r\nHost: docs.example.org\r\n\r\n"
	c := s.tunnel("docs.example.org")
	if got := s.proxy.Domains(); len(got) != 1 || got[0].Name != "docs.example.org" {
		t.Errorf("domains %v", got)
	}
	if !s.proxy.RemoveDomain("docs.example.org") || s.proxy.RemoveDomain("docs.example.org") {
		t.Error("RemoveDomain does not tell whether there was one")
	}
	_, _ = io.WriteString(c, get)
	if res, _ := readAnswer(t, bufio.NewReader(c)); res == nil || res.StatusCode != 403 {
		t.Errorf("in the open tunnel: %+v", res)
	}
	checkRefused(t, s, ReasonConnectHost)
	s.mustAdd("docs.example.org", time.Now().Add(time.Hour))
	c = s.tunnel("docs.example.org")
	s.proxy.RemoveDomain("docs.example.org")
	s.mustAdd("docs.example.org", time.Now().Add(time.Hour))
	_, _ = io.WriteString(c, get)
	if res, _ := readAnswer(t, bufio.NewReader(c)); res == nil || res.StatusCode != 200 {
		t.Errorf("in a tunnel from before it was approved again: %+v", res)
	}
	s.takeRecords()
	if err := s.proxy.AddDomain("docs.example.org", time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := s.raw("CONNECT docs.example.org:443 HTTP/1.1\r\nHost: docs.example.org:443\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("after expiry: %q", got)
	}
}

func TestApprovedDomainAsksForMore(t *testing.T) {
	var asked Request
	s := newDomainHarness(t, func(c *Config) {
		c.Ask = func(_ context.Context, r Request) (Ruling, error) {
			asked = r
			return Ruling{Approved: true, Outcome: "approved"}, nil
		}
	})
	post := "POST /form HTTP/1.1\r\nHost: docs.example.org\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc"
	if res, body := s.inTunnel("docs.example.org", post); res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v %s", res, body)
	}
	if got := s.lastBody(); got != "abc" || string(asked.Body) != "abc" || asked.Digest == "" {
		t.Errorf("forwarded %q after asking about %q", got, asked.Body)
	}
}

func TestApprovedDomainThatEndsWhileThePersonIsAsked(t *testing.T) {
	var s *harness
	s = newDomainHarness(t, func(c *Config) {
		c.Ask = func(context.Context, Request) (Ruling, error) {
			s.proxy.RemoveDomain("docs.example.org")
			return Ruling{Approved: true, Outcome: "approved"}, nil
		}
	})
	post := "POST /form HTTP/1.1\r\nHost: docs.example.org\r\nContent-Length: 0\r\n\r\n"
	if res, body := s.inTunnel("docs.example.org", post); res == nil || res.StatusCode != 403 {
		t.Errorf("answer %+v %s", res, body)
	}
	checkRefused(t, s, ReasonConnectHost)
}

func TestApprovedDomainSendsSoMuchOnly(t *testing.T) {
	s := newDomainHarness(t, func(c *Config) { c.Limits.DomainBytes = 100 << 10 })
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write(make([]byte, 8<<10))
		}
	})
	c := s.tunnel("docs.example.org")
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: docs.example.org\r\n\r\n")
	if n, _ := io.Copy(io.Discard, c); n > 200<<10 {
		t.Errorf("%d bytes passed", n)
	}
	if got := s.awaitRecords(2)[1]; got.Reason != ReasonTooLarge {
		t.Errorf("record %+v", got)
	}
}

func TestCheckDomain(t *testing.T) {
	for _, name := range []string{
		"", "localhost", "example", "10.0.0.1", "1.2.3.4.5", "0x7f.1", "a.b:443", "a.b/", "A.example", "a.example.", "*.example.org", "host.docker.internal",
		"metadata.google.internal", "printer.local", "a..b", "-a.example", "ex ample.org", "x.onion", "\u0430pple.com",
	} {
		t.Run(name, func(t *testing.T) {
			if checkDomain(name) == nil {
				t.Errorf("%q is accepted", name)
			}
		})
	}
	for _, name := range []string{"example.org", "a-b.example.co.uk", "xn--bcher-kva.example"} {
		t.Run(name, func(t *testing.T) {
			if err := checkDomain(name); err != nil {
				t.Error(err)
			}
		})
	}
	s := newDomainHarness(t, nil)
	for _, name := range []string{"api.anthropic.com", "x.api.openai.com"} {
		t.Run(name, func(t *testing.T) {
			if s.proxy.AddDomain(name, time.Now().Add(time.Hour)) == nil {
				t.Errorf("the provider's %s was added", name)
			}
		})
	}
	if newHarness(t, nil).proxy.AddDomain("example.org", time.Now()) == nil {
		t.Error("a domain was added to a session without runtime domains")
	}
}

// No client accepts a certificate that an authority signs outside its constraint.
func TestAuthoritiesAreConstrained(t *testing.T) {
	s := newDomainHarness(t, nil)
	for _, c := range []struct {
		a    *authority
		host string
		ok   bool
	}{
		{s.proxy.authority, "api.anthropic.com", true},
		{s.proxy.authority, "docs.example.org", false},
		{s.proxy.web, "docs.example.org", true},
		{s.proxy.web, "api.anthropic.com", false},
	} {
		t.Run(c.host, func(t *testing.T) {
			leaf, err := c.a.leaf(c.host)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := leaf.Leaf.Verify(x509.VerifyOptions{DNSName: c.host, Roots: s.roots}); (err == nil) != c.ok {
				t.Errorf("%s: %v", c.host, err)
			}
		})
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	sub := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	a := s.proxy.authority
	der, err := x509.CreateCertificate(rand.Reader, sub, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	middle, _ := x509.ParseCertificate(der)
	der, _ = x509.CreateCertificate(rand.Reader, &x509.Certificate{DNSNames: []string{"api.anthropic.com"}, NotAfter: time.Now().Add(time.Hour)}, middle, &key.PublicKey, key)
	leaf, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(middle)
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "api.anthropic.com", Roots: s.roots, Intermediates: pool}); err == nil {
		t.Error("an authority below ours is trusted")
	}
}

func TestLeafIsMadeAnew(t *testing.T) {
	a, err := newAuthority([]string{"a.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.leaf("a.example.org")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := a.leaf("a.example.org"); again != first {
		t.Error("the leaf is not kept")
	}
	for name, shift := range map[string]time.Duration{"nearly over": -(leafLife - leafRenewal/2), "not yet valid": 2 * skew} {
		old := *first.Leaf
		old.NotBefore, old.NotAfter = old.NotBefore.Add(shift), old.NotAfter.Add(shift)
		a.leaves["a.example.org"] = &tls.Certificate{Leaf: &old}
		fresh, err := a.leaf("a.example.org")
		if err != nil || fresh.Leaf == &old || fmt.Sprint(fresh.Leaf.SerialNumber) == fmt.Sprint(old.SerialNumber) {
			t.Errorf("%s: kept, %v", name, err)
		}
	}
}
