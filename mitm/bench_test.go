package mitm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// routes are the ways to the upstream that are measured side by side: straight
// to it, and through the proxy.
func (s *harness) routes() map[string]func() *http.Client {
	direct := x509.NewCertPool()
	direct.AddCert(s.upstream.Certificate())
	client := func(roots *x509.CertPool, dial func() net.Conn) *http.Client {
		return &http.Client{Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: roots},
			DisableCompression:  true,
			MaxIdleConnsPerHost: 64,
			DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
				name := "api.anthropic.com"
				if roots == direct {
					name = "example.com"
				}
				c := tls.Client(dial(), &tls.Config{RootCAs: roots, ServerName: name})
				return c, c.Handshake()
			},
		}}
	}
	return map[string]func() *http.Client{
		"direct": func() *http.Client {
			return client(direct, func() net.Conn {
				c, err := net.Dial("tcp", s.upstream.Listener.Addr().String())
				if err != nil {
					s.t.Fatal(err)
				}
				return c
			})
		},
		"proxy": func() *http.Client {
			return client(s.roots, func() net.Conn {
				c := s.connect("api.anthropic.com")
				_ = c.SetDeadline(time.Time{})
				return c
			})
		},
	}
}

func (s *harness) post(c *http.Client) error {
	req, err := http.NewRequest(http.MethodPost, "https://api.anthropic.com/v1/messages", strings.NewReader(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", s.proxy.Sentinel("anthropic"))
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quietHarness records nothing, so that only the proxy's own work is measured.
func quietHarness(b *testing.B, answer http.HandlerFunc) *harness {
	b.Helper()
	s := newHarness(b, func(c *Config) { c.Audit = func(Record) error { return nil } })
	s.upstream.Config.Handler = answer
	return s
}

// BenchmarkRequest gives the time of one request on one connection, and the
// CPU time of one request, client and upstream included, at 32 connections.
func BenchmarkRequest(b *testing.B) {
	body := []byte(strings.Repeat("x", 900))
	s := quietHarness(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	for _, route := range []string{"direct", "proxy"} {
		client := s.routes()[route]()
		b.Run(route+"/1", func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				from := time.Now()
				if err := s.post(client); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(from))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
		b.Run(route+"/32", func(b *testing.B) {
			b.SetParallelism(16)
			from := cpuTime()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.post(client); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64((cpuTime()-from).Microseconds())/float64(b.N), "cpu-µs/op")
		})
		client.CloseIdleConnections()
	}
}

// BenchmarkDownload gives the throughput of one large answer.
func BenchmarkDownload(b *testing.B) {
	piece := []byte(strings.Repeat("data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"some words of an answer\"}}\n\n", 800))
	const size = 64 << 20
	s := quietHarness(b, func(w http.ResponseWriter, _ *http.Request) {
		for sent := 0; sent < size; sent += len(piece) {
			_, _ = w.Write(piece)
		}
	})
	for _, route := range []string{"direct", "proxy"} {
		client := s.routes()[route]()
		b.Run(route, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := s.post(client); err != nil {
					b.Fatal(err)
				}
			}
		})
		client.CloseIdleConnections()
	}
}

// BenchmarkEvent gives the delay from the upstream's sending of an event to
// its arrival, with 2 ms between events.
func BenchmarkEvent(b *testing.B) {
	s := quietHarness(b, nil)
	s.upstream.Config.Handler = http.HandlerFunc(timedEvents)
	for _, route := range []string{"direct", "proxy"} {
		client := s.routes()[route]()
		b.Run(route, func(b *testing.B) {
			var delays []time.Duration
			for b.Loop() {
				delays = append(delays, s.events(client)...)
			}
			slices.Sort(delays)
			b.ReportMetric(float64(delays[len(delays)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(delays[len(delays)-1].Microseconds()), "max-µs")
		})
		client.CloseIdleConnections()
	}
}

// timedEvents answers with 500 events, 2 ms apart, each of which is the time of its sending.
func timedEvents(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		<-tick.C
		_, _ = fmt.Fprintf(w, "data: %d\n\n", time.Now().UnixNano())
		w.(http.Flusher).Flush()
	}
}

func (s *harness) events(c *http.Client) []time.Duration {
	req, _ := http.NewRequest(http.MethodPost, "https://api.anthropic.com/v1/messages", strings.NewReader(`{"model":"m"}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", s.proxy.Sentinel("anthropic"))
	res, err := c.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var delays []time.Duration
	buf := make([]byte, 4096)
	for {
		n, err := res.Body.Read(buf)
		var sent int64
		if _, scanErr := fmt.Sscanf(string(buf[:n]), "data: %d", &sent); scanErr == nil {
			delays = append(delays, time.Since(time.Unix(0, sent)))
		}
		if err != nil {
			return delays
		}
	}
}
