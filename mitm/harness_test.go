package mitm

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// realKey is the secret that must never reach the agent's side.
const realKey = "sk-ant-api03-the-real-key-0123456789-abcdefghijklmnopqrstuvwxyz"

// harness is a proxy on a Unix socket in front of an upstream that records.
type harness struct {
	t      testing.TB
	proxy  *Proxy
	socket string
	roots  *x509.CertPool

	upstream *httptest.Server
	conns    atomic.Int64 // that the upstream accepted
	handler  atomic.Value // http.HandlerFunc
	mu       sync.Mutex
	requests []*http.Request // that the upstream saw
	bodies   []string
	records  []Record
	auditErr error
}

// newHarness starts both; change may alter the configuration.
func newHarness(t testing.TB, change func(*Config)) *harness {
	t.Helper()
	s := &harness{t: t, roots: x509.NewCertPool()}
	s.handler.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	s.upstream = httptest.NewUnstartedServer(http.HandlerFunc(s.record))
	s.upstream.Listener = countingListener{s.upstream.Listener, &s.conns}
	s.upstream.StartTLS()
	t.Cleanup(s.upstream.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.upstream.Certificate())
	base, err := url.Parse(s.upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Session:     "s1",
		Credentials: func(context.Context, string) (Credential, error) { return Credential{KindAPIKey, realKey, ""}, nil },
		Upstreams:   make(map[string]*url.URL),
		UpstreamCAs: pool,
		Audit:       s.audit,
	}
	for _, p := range Providers() {
		if _, err := p.modeFor(KindAPIKey); err != nil {
			continue // it takes a login only
		}
		c.Providers = append(c.Providers, p.Name)
		for _, host := range p.Hosts {
			c.Upstreams[host.Name] = base
		}
	}
	if change != nil {
		change(&c)
	}
	s.proxy, err = New(c)
	if err != nil {
		t.Fatal(err)
	}
	if !s.roots.AppendCertsFromPEM(s.proxy.CACertificate()) {
		t.Fatal("the authority's certificate cannot be read")
	}
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	s.socket = filepath.Join(dir, "m.sock")
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.proxy.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.proxy.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	return s
}

type countingListener struct {
	net.Listener
	n *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}

func (s *harness) record(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	s.handler.Load().(http.HandlerFunc)(w, r)
}

func (s *harness) answer(h http.HandlerFunc) { s.handler.Store(h) }

func (s *harness) audit(r Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.auditErr != nil {
		return s.auditErr
	}
	s.records = append(s.records, r)
	return nil
}

func (s *harness) takeRecords() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.records
	s.records = nil
	return all
}

// lastBody is the body that the upstream saw last.
func (s *harness) lastBody() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bodies) == 0 {
		return ""
	}
	return s.bodies[len(s.bodies)-1]
}

// awaitRecords waits until n records are there and returns them.
func (s *harness) awaitRecords(n int) []Record {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		if len(s.records) >= n {
			all := slices.Clone(s.records)
			s.mu.Unlock()
			return all
		}
		got := slices.Clone(s.records)
		s.mu.Unlock()
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for %d records, got %+v", n, got)
		}
		<-tick.C
	}
}

func (s *harness) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// raw sends bytes outside any tunnel and returns all that comes back.
func (s *harness) raw(text string) string {
	s.t.Helper()
	c := s.dial()
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	_ = c.(*net.UnixConn).CloseWrite()
	out, err := io.ReadAll(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// connect opens a tunnel to a host, without TLS.
func (s *harness) connect(host string) net.Conn {
	s.t.Helper()
	c := s.dial()
	_, _ = fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", host, host)
	want := "HTTP/1.1 200 Connection Established\r\n\r\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		s.t.Fatalf("CONNECT %s: %q, %v", host, got, err)
	}
	return c
}

// tunnel opens a tunnel to a host with TLS in it.
func (s *harness) tunnel(host string) *tls.Conn {
	s.t.Helper()
	t := tls.Client(s.connect(host), &tls.Config{RootCAs: s.roots, ServerName: host})
	if err := t.Handshake(); err != nil {
		s.t.Fatal(err)
	}
	return t
}

// inTunnel sends bytes in a tunnel and reads one response; a nil response
// means that the connection ended without one.
func (s *harness) inTunnel(host, text string) (*http.Response, string) {
	s.t.Helper()
	c := s.tunnel(host)
	defer func() { _ = c.NetConn().Close() }()
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return readAnswer(s.t, bufio.NewReader(c))
}

// cutShort is inTunnel for a client that ends its side after the text.
func (s *harness) cutShort(host, text string) (*http.Response, string) {
	s.t.Helper()
	c := s.tunnel(host)
	defer func() { _ = c.NetConn().Close() }()
	_, _ = io.WriteString(c, text)
	_ = c.CloseWrite()
	return readAnswer(s.t, bufio.NewReader(c))
}

func readAnswer(t testing.TB, r *bufio.Reader) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read the answer after %q: %v", body, err)
	}
	return res, string(body)
}

// message is a correct request to Anthropic; edits replace text in it.
func (s *harness) message(edits ...string) string {
	body := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`
	text := "POST /v1/messages?beta=true HTTP/1.1\r\nHost: api.anthropic.com\r\nX-Api-Key: " + s.proxy.Sentinel("anthropic") +
		"\r\nAnthropic-Version: 2023-06-01\r\nContent-Type: application/json\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			s.t.Fatalf("the message holds no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// withBody is a correct request with another body, to any provider.
func (s *harness) withBody(host, path, header, provider, body string) string {
	key := s.proxy.Sentinel(provider)
	if header == "Authorization" {
		key = "Bearer " + key
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, host, header, key, len(body), body)
}
