package mux

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
)

// linked is a session over a link. carry makes its carriers.
type linked struct {
	host, container *link.Link
	inside, outside *Session
}

func newLinked(t testing.TB) *linked {
	t.Helper()
	l := &linked{host: link.New(link.NewID())}
	l.container = link.New(l.host.ID())
	var err error
	if l.inside, err = Inside(l.container.Bulk()); err != nil {
		t.Fatal(err)
	}
	if l.outside, err = Outside(l.host.Bulk()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.host.Close()
		l.container.Close()
		l.inside.Close()
		l.outside.Close()
	})
	return l
}

// carry uses one carrier until it breaks.
func (l *linked) carry(ctx context.Context, a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { _ = l.host.Carry(ctx, a, nil) })
	both.Go(func() {
		theirs, err := link.ReadHello(b)
		if err != nil {
			b.Close()
			return
		}
		_ = l.container.Carry(ctx, b, &theirs)
	})
	both.Wait()
}

// echo sends back what it reads from each stream, until the session ends.
func echo(s *Session) {
	var streams sync.WaitGroup
	defer streams.Wait()
	for {
		_, c, err := s.Accept()
		if err != nil {
			return
		}
		streams.Go(func() {
			defer c.Close()
			if _, err := io.Copy(c, c); err == nil {
				_ = c.CloseWrite()
			}
		})
	}
}

// breaking is a connection that breaks, for both ends, after so many bytes were written to it.
type breaking struct {
	net.Conn
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		b.Close()
	}
	return b.Conn.Write(p)
}

// The container's connections do not notice that carriers are cut.
func TestStreamsOutliveCarriers(t *testing.T) {
	l := newLinked(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var carriers int
	running.Go(func() {
		for ctx.Err() == nil {
			a, b := net.Pipe()
			carriers++
			l.carry(ctx, &breaking{a, 100_000 + 7919*carriers}, b)
		}
	})
	running.Go(func() { echo(l.outside) })
	var streams sync.WaitGroup
	for i := range 20 {
		streams.Go(func() {
			if err := askBack(t.Context(), l.inside, 10_000*i); err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
		})
	}
	streams.Wait()
	cancel()
	l.outside.Close()
	l.inside.Close()
	running.Wait()
	if carriers < 3 {
		t.Errorf("only %d carriers were used", carriers)
	}
}

// askBack sends random bytes on a stream and expects the same back.
func askBack(ctx context.Context, inside *Session, size int) error {
	c, err := inside.Open(ctx, Model)
	if err != nil {
		return err
	}
	defer c.Close()
	sent := make([]byte, size)
	_, _ = rand.Read(sent)
	var writing sync.WaitGroup
	var failed error
	writing.Go(func() {
		_, failed = c.Write(sent)
		_ = c.CloseWrite()
	})
	got, err := io.ReadAll(c)
	writing.Wait()
	if !bytes.Equal(got, sent) {
		return errors.Join(err, failed, errors.New("something else came back"))
	}
	return errors.Join(err, failed)
}

// Open fails when its context ends, and when the session does.
func TestOpenGivesUp(t *testing.T) {
	l := newLinked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.inside.Open(ctx, Tools); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	l.inside.Close()
	if _, err := l.inside.Open(t.Context(), Tools); err == nil {
		t.Error("a closed session opens streams")
	}
	if n := l.inside.open[Tools]; n != 0 {
		t.Errorf("%d streams are counted", n)
	}
}

// Closing one end ends the other one.
func TestCloseEndsBothEnds(t *testing.T) {
	l := newLinked(t)
	ctx := t.Context()
	a, b := net.Pipe()
	carried := make(chan struct{})
	go func() { defer close(carried); l.carry(context.WithoutCancel(ctx), a, b) }()
	c, err := l.inside.Open(ctx, Tools)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.outside.Accept(); err != nil {
		t.Fatal(err)
	}
	l.outside.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a stream outlives its session")
	}
	<-carried
	if _, _, err := l.outside.Accept(); !errors.Is(err, io.EOF) {
		t.Errorf("accepted: %v", err)
	}
}

// overSockets returns a session over a link over sockets.
func overSockets(b *testing.B) *linked {
	b.Helper()
	l := newLinked(b)
	listener, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	dialled, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); l.carry(context.Background(), dialled, accepted) }()
	b.Cleanup(func() { l.host.Close(); <-done })
	return l
}

// A request and its answer on an open stream, and on a new one each time.
func BenchmarkRequest(b *testing.B) {
	l := overSockets(b)
	done := make(chan struct{})
	go func() { defer close(done); echo(l.outside) }()
	b.Cleanup(func() { l.outside.Close(); <-done })
	ask := func(b *testing.B, c Stream) {
		b.Helper()
		request := make([]byte, 200)
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, request); err != nil {
			b.Fatal(err)
		}
	}
	open := func(b *testing.B) Stream {
		b.Helper()
		c, err := l.inside.Open(b.Context(), Tools)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("open", func(b *testing.B) {
		c := open(b)
		defer c.Close()
		for b.Loop() {
			ask(b, c)
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			c := open(b)
			ask(b, c)
			c.Close()
		}
	})
}

// Throughput of one stream, from the container to the host.
func BenchmarkUpload(b *testing.B) {
	l := overSockets(b)
	const block = 64 << 10
	b.SetBytes(block)
	c, err := l.inside.Open(b.Context(), Model)
	if err != nil {
		b.Fatal(err)
	}
	_, s, err := l.outside.Accept()
	if err != nil {
		b.Fatal(err)
	}
	came := make(chan int64)
	go func() {
		n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{s}, make([]byte, block))
		came <- n
	}()
	for range b.N {
		if _, err := c.Write(make([]byte, block)); err != nil {
			b.Fatal(err)
		}
	}
	c.CloseWrite()
	if n := <-came; n != int64(b.N)*block {
		b.Errorf("%d bytes came", n)
	}
	s.Close()
	c.Close()
}
