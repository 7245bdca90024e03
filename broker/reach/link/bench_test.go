package link

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// sockets is a pair of connected sockets.
func sockets(b *testing.B) (dialled, accepted net.Conn) {
	b.Helper()
	listener, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	if dialled, err = net.Dial("unix", listener.Addr().String()); err != nil {
		b.Fatal(err)
	}
	if accepted, err = listener.Accept(); err != nil {
		b.Fatal(err)
	}
	return dialled, accepted
}

// carrying returns a link over sockets.
func carrying(b *testing.B) *ends {
	b.Helper()
	e := newEnds(b)
	up, down := sockets(b)
	wait := e.carry(context.Background(), up, down)
	b.Cleanup(func() { e.host.Close(); wait() })
	return e
}

// echo sends back what it reads until the link ends.
func echo(c io.ReadWriter) {
	b := make([]byte, 32<<10)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

// typeKeys types n keys, each after the echo of the one before, and reports the times.
func typeKeys(b *testing.B, c io.ReadWriter, n int) {
	b.Helper()
	took := make([]time.Duration, 0, n)
	key := []byte("k")
	for range n {
		began := time.Now()
		if _, err := c.Write(key); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, key); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[n/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[n*99/100].Nanoseconds())/1e3, "p99-µs")
}

// A key and its echo, without other traffic. "bare" is the same without a link.
func BenchmarkEcho(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		up, down := sockets(b)
		done := make(chan struct{})
		go func() { defer close(done); echo(down) }()
		typeKeys(b, up, b.N)
		up.Close()
		<-done
		down.Close()
	})
	b.Run("typed", func(b *testing.B) {
		e := carrying(b)
		done := make(chan struct{})
		go func() { defer close(done); echo(e.inside.Typed()) }()
		b.Cleanup(func() { e.host.Close(); <-done })
		typeKeys(b, e.host.Typed(), b.N)
	})
}

// Throughput of each lane.
func BenchmarkThroughput(b *testing.B) {
	for _, lane := range []struct {
		name string
		of   func(*Link) io.ReadWriteCloser
	}{
		{"typed", (*Link).Typed},
		{"bulk", func(l *Link) io.ReadWriteCloser { return l.Bulk() }},
	} {
		b.Run(lane.name, func(b *testing.B) {
			e := carrying(b)
			block := make([]byte, 16<<10)
			b.SetBytes(int64(len(block)))
			done := make(chan error, 1)
			from, to := lane.of(e.inside), lane.of(e.host)
			go func() {
				_, err := io.CopyN(io.Discard, to, int64(b.N)*int64(len(block)))
				done <- err
			}()
			for range b.N {
				if _, err := from.Write(block); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}
