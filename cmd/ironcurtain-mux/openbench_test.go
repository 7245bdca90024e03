package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// BenchmarkOpen measures from asking for tabs to the first byte of the terminal of
// the last one, beside containers of the same image that the engine starts for
// nobody. Both take turns, so that what else the machine does falls on both:
//
//	go test -run '^$' -bench Open -benchtime 20x ./cmd/ironcurtain-mux
func BenchmarkOpen(b *testing.B) {
	for name, tabs := range map[string]int{"1-tab": 1, "8-tabs": 8} {
		b.Run(name, func(b *testing.B) {
			open := opener(b)
			bare := bareStarter(b)
			var ours, engines []time.Duration
			open(tabs) // what is looked at once is looked at here
			for b.Loop() {
				engines = append(engines, bare(tabs))
				ours = append(ours, open(tabs))
			}
			reportMedian(b, ours)
			b.ReportMetric(float64(median(engines).Microseconds()), "engine-p50-us")
		})
	}
}

// opener returns what opens that many tabs at once, says how long it took, and
// closes them.
func opener(b *testing.B) func(tabs int) time.Duration {
	b.Helper()
	home := newHome(b)
	b.Setenv("IRONCURTAIN_CACHE", cacheDirectory(b))
	b.Setenv("IRONCURTAIN_HOME", filepath.Join(home, "state"))
	b.Setenv("HOME", filepath.Join(home, "user"))
	for dir, file := range map[string]string{"user": "", "state": "config.json"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			b.Fatal(err)
		}
		if file != "" {
			if err := os.WriteFile(filepath.Join(home, dir, file), []byte(`{"maxSessions":16}`), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	p, c, err := wiring.LoadConfig()
	if err != nil {
		b.Fatal(err)
	}
	demo, err := wiring.StartDemo(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = demo.Close() })
	config, err := demo.Config(p, c, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	program, err := exec.LookPath("ironcurtain-mux") // this one is no fetch server
	if err != nil {
		b.Fatal(err)
	}
	config.FetchServer[0] = program
	trusted, err := broker.New(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := trusted.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	learnTools(b, trusted, filepath.Join(home, "state", "run"))
	return func(tabs int) time.Duration {
		ids := make([]broker.SessionID, tabs)
		began := time.Now()
		all(tabs, func(i int) {
			s, err := trusted.Open(b.Context(), broker.OpenRequest{Agent: "shell", Cols: 100, Rows: 30})
			if err != nil {
				b.Error(err)
				return
			}
			ids[i] = s.ID
			t, err := trusted.Attach(b.Context(), s.ID)
			if err != nil {
				b.Error(err)
				return
			}
			_ = t.CopyTo(firstByte{}) // it ends with the first byte
			_ = t.Close()
		})
		took := time.Since(began)
		all(tabs, func(i int) {
			if err := trusted.Close(b.Context(), ids[i]); err != nil {
				b.Error(err)
			}
		})
		return took
	}
}

// learnTools opens a tab until its tools answer. From then on it is known what the tool
// servers offer, and one is started only when a call needs it.
func learnTools(b *testing.B, trusted *broker.Broker, run string) {
	b.Helper()
	s, err := trusted.Open(b.Context(), broker.OpenRequest{Agent: "shell", Cols: 100, Rows: 30})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := trusted.Attach(b.Context(), s.ID); err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("unix", filepath.Join(run, strings.ReplaceAll(s.ID, "-", "")[:12], "sockets", "proxy.sock"))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`+"\n")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	if err := trusted.Close(b.Context(), s.ID); err != nil {
		b.Fatal(err)
	}
}

// firstByte is a writer that takes nothing more after a byte.
type firstByte struct{}

func (firstByte) Write(p []byte) (int, error) { return len(p), io.EOF }

// bareStarter returns the same for containers that have nothing but a shell.
func bareStarter(b *testing.B) func(tabs int) time.Duration {
	b.Helper()
	client := engine(b)
	image, err := client.EnsureImage(b.Context(), "shell", docker.BuildOptions{CacheDir: cacheDirectory(b), Recipe: standardRecipe})
	if err != nil {
		b.Fatal(err)
	}
	return func(tabs int) time.Duration {
		started := make([]*docker.Container, tabs)
		began := time.Now()
		all(tabs, func(i int) {
			c, err := client.Start(b.Context(), docker.Spec{
				Image: image, Cmd: []string{"bash", "--norc", "-i"}, Env: agent.Environment(),
				User: "1000:1000", WorkingDir: "/tmp", Cols: 100, Rows: 30,
			})
			if err != nil {
				b.Error(err)
				return
			}
			started[i] = c
			if _, err := c.Read(make([]byte, 1)); err != nil {
				b.Error(err)
			}
		})
		took := time.Since(began)
		all(tabs, func(i int) {
			if c := started[i]; c != nil {
				if err := c.Remove(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
		return took
	}
}

// all does something n times at once and waits for the last.
func all(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}
