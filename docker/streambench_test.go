package docker

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Stream is measured beside a mounted socket, with the same programs in the container:
//
//	go test -run '^$' -bench 'Stream|Socket' ./docker
//
// A mounted socket is faster; what counts is that Stream is fast enough for an agent's
// requests where no socket can be mounted.

// opener opens a connection to a program in a container.
type opener func(argv ...string) net.Conn

// byStream opens connections with Stream.
func byStream(b *testing.B, c *Client) opener {
	b.Helper()
	h := detached(b, c, nil, "sleep", "1000")
	return func(argv ...string) net.Conn { return open(b, c, h.ID(), argv...) }
}

// bySocket opens connections that the program in the container makes to a mounted socket.
func bySocket(b *testing.B, c *Client) opener {
	b.Helper()
	dir := shortDir(b)
	if err := os.Chmod(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "s.sock")
	l := listen(b, path)
	b.Cleanup(func() { l.Close() })
	if err := os.Chmod(path, 0o666); err != nil {
		b.Fatal(err)
	}
	h := detached(b, c, func(s *Spec) {
		s.Mounts = []Mount{{Source: dir, Target: "/run/ironcurtain", ReadOnly: true}}
	}, "sleep", "1000")
	return func(argv ...string) net.Conn {
		const join = `$s = IO::Socket::UNIX->new("/run/ironcurtain/s.sock") or die $!; ` +
			`open STDIN, "<&", $s; open STDOUT, ">&", $s; close $s; exec @ARGV`
		starter := open(b, c, h.ID(), append([]string{"perl", "-MIO::Socket::UNIX", "-e", join, "--"}, argv...)...)
		conn, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close(); starter.Close() })
		return conn
	}
}

func BenchmarkStreamUp(b *testing.B)    { benchmarkUp(b, byStream) }
func BenchmarkSocketUp(b *testing.B)    { benchmarkUp(b, bySocket) }
func BenchmarkStreamDown(b *testing.B)  { benchmarkDown(b, byStream) }
func BenchmarkSocketDown(b *testing.B)  { benchmarkDown(b, bySocket) }
func BenchmarkStreamRound(b *testing.B) { benchmarkRound(b, byStream) }
func BenchmarkSocketRound(b *testing.B) { benchmarkRound(b, bySocket) }

const (
	benchBytes = 64 << 20
	benchPiece = 16 << 10 // as the pieces of the connections that share one stream
)

// benchmarkUp measures how fast bytes reach a program that throws them away.
func benchmarkUp(b *testing.B, way func(*testing.B, *Client) opener) {
	b.Helper()
	open := way(b, connect(b))
	b.SetBytes(benchBytes)
	piece := make([]byte, benchPiece)
	for b.Loop() {
		b.StopTimer()
		conn := open("sh", "-c", "echo ready; dd of=/dev/null bs=64k count=1024 iflag=fullblock 2>&1; exec cat")
		if _, err := io.ReadFull(conn, make([]byte, len("ready\n"))); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for sent := 0; sent < benchBytes; sent += len(piece) {
			if _, err := conn.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		conn.Close()
		b.StartTimer()
	}
}

// benchmarkDown measures how fast a program's output arrives.
func benchmarkDown(b *testing.B, way func(*testing.B, *Client) opener) {
	b.Helper()
	open := way(b, connect(b))
	b.SetBytes(benchBytes)
	for b.Loop() {
		b.StopTimer()
		conn := open("sh", "-c", "echo ready; read x; exec dd if=/dev/zero bs=64k count=1024")
		if _, err := io.ReadFull(conn, make([]byte, len("ready\n"))); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := conn.Write([]byte("\n")); err != nil {
			b.Fatal(err)
		}
		for got, piece := 0, make([]byte, benchPiece); got < benchBytes; {
			n, err := conn.Read(piece)
			if got += n; err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		conn.Close()
		b.StartTimer()
	}
}

// benchmarkRound measures a byte to a program and back.
func benchmarkRound(b *testing.B, way func(*testing.B, *Client) opener) {
	b.Helper()
	conn := way(b, connect(b))("cat")
	var times []time.Duration
	one := []byte("k")
	for b.Loop() {
		begun := time.Now()
		if _, err := conn.Write(one); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, one); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
}
