package mitm

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A large answer is written in large pieces. Everything that has come is passed on even
// if nothing follows, in order and with the key masked.
func TestLargeAnswerIsNotHeldBack(t *testing.T) {
	s := newHarness(t, nil)
	const rounds, size = 6, 200 << 10
	piece := bytes.Repeat([]byte("some words of an answer, "), size/25)
	next := make(chan struct{})
	s.answer(func(w http.ResponseWriter, _ *http.Request) {
		for range rounds {
			<-next
			_, _ = w.Write(append(bytes.Clone(piece), realKey...))
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
	want := append(bytes.Clone(piece), s.proxy.Sentinel("anthropic")...)
	got := make([]byte, len(want))
	for i := range rounds {
		if i > 0 {
			next <- struct{}{}
		}
		if n, err := io.ReadFull(res.Body, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes, the same: %v, %v", i, n, bytes.Equal(got, want), err)
		}
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("at the end %q, %v", rest, err)
	}
}

// Gathered bytes are sent when they fill a piece, after pieceTime, or by flush. The next
// write returns the error of a write by the timer.
func TestTunnelConnGathers(t *testing.T) {
	near, far := net.Pipe()
	c := &tunnelConn{Conn: near}
	read := make(chan string, 16)
	go func() {
		defer close(read)
		b := make([]byte, 2*pieceBytes)
		for {
			n, err := far.Read(b)
			if err != nil {
				return
			}
			read <- string(b[:n])
		}
	}()
	expect := func(want int) {
		t.Helper()
		select {
		case got := <-read:
			if len(got) != want {
				t.Errorf("%d bytes arrived, want %d", len(got), want)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing arrived")
		}
	}
	write := func(n int, then func() error) {
		t.Helper()
		c.hold()
		if _, err := c.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if err := then(); err != nil {
			t.Fatal(err)
		}
	}
	write(pieceBytes, c.flushSoon)
	expect(pieceBytes)
	write(10, c.flushSoon)
	expect(10) // after a while
	write(20, c.flush)
	expect(20)
	write(30, c.release)
	expect(30)
	_ = far.Close()
	c.hold()
	_, _ = c.Write([]byte("lost"))
	if err := c.flush(); err == nil {
		t.Error("no error of a connection that is gone")
	}
	if _, err := c.Write([]byte("more")); err == nil {
		t.Error("the error is forgotten")
	}
	for range read { // until the reader has ended
	}
}
