package mitm

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// After a jump of the clock during a session, the proxy presents a certificate that is
// valid at the new time, and keeps one that is still valid.
func TestClockThatJumps(t *testing.T) {
	s := newHarness(t, nil)
	const host = "api.anthropic.com"
	a := s.proxy.authority
	now := time.Now()
	a.now = func() time.Time { return now }
	start := now
	var last *tls.Certificate
	for _, jump := range []struct {
		to   time.Duration
		kept bool
	}{
		{0, false},
		{time.Minute, true},
		{time.Hour, true},
		{-time.Minute, true},
		{-2 * time.Hour, false},
		{0, true},
		{25 * time.Hour, false},
		{-365 * 24 * time.Hour, false},
		{365 * 24 * time.Hour, false},
	} {
		now = start.Add(jump.to)
		leaf, err := a.leaf(host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leaf.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: s.roots, CurrentTime: now}); err != nil {
			t.Errorf("at %v: %v", jump.to, err)
		}
		if life := leaf.Leaf.NotAfter.Sub(leaf.Leaf.NotBefore); life > 24*time.Hour {
			t.Errorf("at %v: a leaf lives for %v", jump.to, life)
		}
		if (leaf == last) != jump.kept {
			t.Errorf("at %v: kept %v, want %v", jump.to, leaf == last, jump.kept)
		}
		last = leaf
	}
}

// breaker is an upstream that sends the beginning of an answer and then resets
// the connection.
type breaker struct {
	answer []byte
	mu     sync.Mutex
	cut    int
	work   sync.WaitGroup
}

func (b *breaker) serve(l net.Listener, config *tls.Config) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		b.work.Go(func() {
			s := tls.Server(c, config)
			defer func() { _ = c.Close() }()
			if _, err := http.ReadRequest(bufio.NewReader(s)); err != nil {
				return
			}
			b.mu.Lock()
			part := b.answer[:b.cut]
			b.mu.Unlock()
			_, _ = s.Write(part)
			if len(part) < len(b.answer) {
				_ = c.(*net.TCPConn).SetLinger(0) // closing sends a reset
			}
		})
	}
}

// Wherever an upstream resets the connection, the client notices it, and both records of
// the request are written.
func TestUpstreamThatBreaksOff(t *testing.T) {
	b := &breaker{answer: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 18\r\n\r\ndata: 1\n\ndata: 2\n\n")}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newHarness(t, func(c *Config) {
		c.Upstreams["api.anthropic.com"] = &url.URL{Scheme: "https", Host: l.Addr().String()}
	})
	b.work.Go(func() { b.serve(l, s.upstream.TLS) })
	defer b.work.Wait()
	defer func() { _ = l.Close() }()
	for cut := range len(b.answer) + 1 {
		b.mu.Lock()
		b.cut = cut
		b.mu.Unlock()
		c := s.tunnel("api.anthropic.com")
		_, _ = io.WriteString(c, s.message())
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("cut at %d: no answer: %v", cut, err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		_ = c.NetConn().Close()
		whole := cut == len(b.answer)
		broken := res.StatusCode == 502 || err != nil
		if whole == broken || whole && string(body) != "data: 1\n\ndata: 2\n\n" {
			t.Errorf("cut at %d: status %d, body %q, %v", cut, res.StatusCode, body, err)
		}
		records := s.awaitRecords(2)
		if end := records[len(records)-1]; len(records) != 2 || (end.Decision == Allow) != whole {
			t.Errorf("cut at %d: records %+v", cut, records)
		}
		s.takeRecords()
	}
}

// A host name that cannot be reached gives an error in the provider's format, within the
// time limit.
func TestUpstreamThatIsNotThere(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		c.Limits.ConnectTime = 2 * time.Second
		c.Upstreams["api.anthropic.com"] = &url.URL{Scheme: "https", Host: "nowhere.invalid"}
	})
	res, body := s.inTunnel("api.anthropic.com", s.message())
	if res == nil || res.StatusCode != 502 && res.StatusCode != 504 || !strings.Contains(body, `"type":"error"`) {
		t.Errorf("answer %+v %s", res, body)
	}
	if last := s.awaitRecords(2)[1]; last.Decision != Failed || last.Reason != ReasonUnreachable && last.Reason != ReasonTimeout {
		t.Errorf("record %+v", last)
	}
}

// A slow answer arrives byte by byte as it comes, and takes no more memory than any
// other.
func TestUpstreamThatTrickles(t *testing.T) {
	s := newHarness(t, nil)
	next := make(chan struct{})
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			<-next
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
		}
	})
	c := s.tunnel("api.anthropic.com")
	_, _ = io.WriteString(c, s.message())
	next <- struct{}{}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	one := make([]byte, 1)
	for i := range 64 {
		if i > 0 {
			next <- struct{}{}
		}
		if _, err := io.ReadFull(res.Body, one); err != nil || !bytes.Equal(one, []byte("x")) {
			t.Fatalf("byte %d: %q, %v", i, one, err)
		}
	}
}

// Bytes that an upstream sends after its answer are dropped. A client of net/http would
// print them to the standard logger.
func TestBytesAfterAnAnswer(t *testing.T) {
	b := &breaker{answer: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok" + realKey)}
	b.cut = len(b.answer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var printed lockedBuffer
	log.SetOutput(&printed)
	defer log.SetOutput(os.Stderr)
	s := newHarness(t, func(c *Config) {
		c.Upstreams["api.anthropic.com"] = &url.URL{Scheme: "https", Host: l.Addr().String()}
	})
	b.work.Go(func() { b.serve(l, s.upstream.TLS) })
	defer b.work.Wait()
	defer func() { _ = l.Close() }()
	for range 20 {
		if res, body := s.inTunnel("api.anthropic.com", s.message()); res == nil || body != "ok" {
			t.Fatalf("answer %+v %q", res, body)
		}
	}
	if got := printed.String(); got != "" {
		t.Errorf("printed %q", got)
	}
}

// lockedBuffer is a buffer that several goroutines may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
