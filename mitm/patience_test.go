package mitm

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener for connections in memory, so that they use the clock of a test's
// bubble.
type pipes struct {
	accept chan net.Conn
	once   *sync.Once
}

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p.accept
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { p.once.Do(func() { close(p.accept) }); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// slowStage is a proxy between two ends in memory.
type slowStage struct {
	t      *testing.T
	proxy  *Proxy
	client *tls.Conn
	r      *bufio.Reader // of client
	work   sync.WaitGroup

	mu      sync.Mutex
	records []Record
}

const slowHost = "api.anthropic.com"

// newSlowStage has a server answer each request.
func newSlowStage(t *testing.T, answer func(c net.Conn, r *http.Request)) *slowStage {
	t.Helper()
	s := &slowStage{t: t}
	server, err := newAuthority([]string{slowHost})
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(server.pem)
	s.proxy, err = New(Config{
		Providers:   []string{"anthropic"},
		Credentials: func(context.Context, string) (Credential, error) { return Credential{KindAPIKey, realKey, ""}, nil },
		UpstreamCAs: trusted,
		Audit: func(r Record) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.records = append(s.records, r)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.proxy.hosts[slowHost].upstream.dial = func(context.Context) (net.Conn, error) {
		near, far := net.Pipe()
		s.work.Go(func() {
			c := tls.Server(far, &tls.Config{
				SessionTicketsDisabled: true, // nobody reads them before the first answer, and a pipe holds nothing
				GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return server.leaf(slowHost) },
			})
			defer func() { _ = far.Close() }()
			for r := bufio.NewReader(c); ; {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				answer(c, req)
			}
		})
		return near, nil
	}
	l := pipes{make(chan net.Conn), new(sync.Once)}
	s.work.Go(func() { _ = s.proxy.Serve(l) })
	near, far := net.Pipe()
	l.accept <- far
	s.tunnel(near)
	return s
}

// tunnel opens the tunnel to the host.
func (s *slowStage) tunnel(c net.Conn) {
	s.t.Helper()
	_, _ = fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", slowHost, slowHost)
	head := make([]byte, len("HTTP/1.1 200 Connection Established\r\n\r\n"))
	if _, err := io.ReadFull(c, head); err != nil {
		s.t.Fatalf("CONNECT: %q, %v", head, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.proxy.CACertificate())
	s.client = tls.Client(c, &tls.Config{RootCAs: roots, ServerName: slowHost})
	s.r = bufio.NewReader(s.client)
}

// send sends a request.
func (s *slowStage) send() {
	s.t.Helper()
	const body = `{"model":"m"}`
	if _, err := fmt.Fprintf(s.client, "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		slowHost, s.proxy.Sentinel("anthropic"), len(body), body); err != nil {
		s.t.Fatal(err)
	}
}

// ask sends a request and returns the whole answer.
func (s *slowStage) ask() (string, error) {
	s.t.Helper()
	s.send()
	res, err := http.ReadResponse(s.r, nil)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

func (s *slowStage) close() {
	s.t.Helper()
	_ = s.client.NetConn().Close()
	if err := s.proxy.Close(context.Background()); err != nil {
		s.t.Error(err)
	}
	s.work.Wait()
}

// No timer ends a live stream whose head comes late and whose events come hours apart,
// longer than every other time limit. The connection then serves the next request.
func TestNoTimerCutsALiveStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := Limits{}.withDefaults()
		const events = 12
		s := newSlowStage(t, func(c net.Conn, _ *http.Request) {
			<-time.After(limits.ResponseTime - time.Second)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
			for i := range events {
				<-time.After(limits.StreamIdle - time.Second)
				event := fmt.Sprintf("data: %02d\n\n", i)
				_, _ = fmt.Fprintf(c, "%x\r\n%s\r\n", len(event), event)
			}
			_, _ = io.WriteString(c, "0\r\n\r\n")
		})
		defer s.close()
		for range 2 {
			from := time.Now()
			text, err := s.ask()
			if err != nil || len(text) != events*len("data: 00\n\n") {
				t.Fatalf("after %v: %q, %v", time.Since(from), text, err)
			}
			if took := time.Since(from); took < events*time.Hour {
				t.Errorf("the stream took only %v", took)
			}
			<-time.After(limits.IdleTime - time.Second)
		}
	})
}

// A stream that is silent for longer than its limit is ended, and so is an answer that
// does not begin.
func TestSilenceIsCut(t *testing.T) {
	limits := Limits{}.withDefaults()
	for name, c := range map[string]struct {
		head   string
		limit  time.Duration
		reason Reason
	}{
		"no head":   {"", limits.ResponseTime, ReasonTimeout},
		"no events": {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", limits.StreamIdle, ReasonTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silence := make(chan struct{})
				s := newSlowStage(t, func(up net.Conn, _ *http.Request) {
					_, _ = io.WriteString(up, c.head)
					<-silence
				})
				defer s.close()
				defer close(silence)
				from := time.Now()
				text, err := s.ask()
				if took := time.Since(from); took < c.limit || took > c.limit+c.limit/4 {
					t.Errorf("cut after %v, the limit is %v", took, c.limit)
				}
				if c.head != "" && err == nil {
					t.Errorf("the answer looks whole: %q", text)
				}
				synctest.Wait() // for the record
				s.mu.Lock()
				defer s.mu.Unlock()
				if last := s.records[len(s.records)-1]; last.Reason != c.reason {
					t.Errorf("record %+v", last)
				}
			})
		})
	}
}

// The stream of a client that reads nothing or almost nothing ends in under a minute,
// and the connection to the provider is closed. A slow but steady client keeps its stream.
func TestAClientThatDoesNotRead(t *testing.T) {
	const (
		chunk  = 16 << 10
		chunks = 30
		most   = time.Minute
	)
	for name, c := range map[string]struct {
		bytes int // that the client takes every second
		whole bool
	}{
		"nothing": {0, false},
		"drops":   {64, false},
		"steady":  {2 << 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Duration, 1)
				s := newSlowStage(t, func(up net.Conn, _ *http.Request) {
					from := time.Now()
					_, err := io.WriteString(up, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
					for n := 0; err == nil && n < chunks; n++ {
						_, err = fmt.Fprintf(up, "%x\r\n%s\r\n", chunk, strings.Repeat("x", chunk))
					}
					_, _ = io.WriteString(up, "0\r\n\r\n")
					ended <- time.Since(from)
				})
				s.send()
				gone := make(chan struct{})
				s.work.Go(func() {
					for piece := make([]byte, c.bytes); c.bytes > 0; <-time.After(time.Second) {
						if _, err := io.ReadFull(s.client.NetConn(), piece); err != nil {
							return
						}
					}
					<-gone
				})
				took := <-ended
				if cut := took < most; cut == c.whole {
					t.Errorf("the provider was busy for %v", took)
				}
				<-time.After(10 * time.Second) // the connection's own end, in the bubble's time
				close(gone)
				s.close()
				s.mu.Lock()
				defer s.mu.Unlock()
				if last := s.records[len(s.records)-1]; !c.whole && last.Reason != ReasonClientGone {
					t.Errorf("record %+v", last)
				}
			})
		})
	}
}
