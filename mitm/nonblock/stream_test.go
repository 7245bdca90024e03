package nonblock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// end is a connection that is read and written through a stream.
type end struct {
	net.Conn
	*Stream
}

func (e end) Read(b []byte) (int, error)  { return e.Stream.Read(b) }
func (e end) Write(b []byte) (int, error) { return e.Stream.Write(b) }

// socketPair is a stream and the plain connection at its other end.
func socketPair(t *testing.T) (end, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	far, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	s := New(near)
	if s == nil {
		t.Fatal("there is no stream for a socket")
	}
	return end{near, s}, far
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// What does not fit is sent when there is room, and all of it arrives in order.
func TestMoreThanFits(t *testing.T) {
	s, far := socketPair(t)
	want := make([]byte, 8<<20)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	for _, way := range []struct{ from, to net.Conn }{{s, far}, {far, s}} {
		sent := make(chan error, 1)
		go func() {
			n, err := way.from.Write(want)
			if n != len(want) && err == nil {
				err = io.ErrShortWrite
			}
			sent <- err
		}()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(way.to, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("what arrived is the same: %v, %v", bytes.Equal(got, want), err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeadlines(t *testing.T) {
	s, far := socketPair(t)
	_ = s.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := s.Read(make([]byte, 1)); n != 0 || !isTimeout(err) {
		t.Errorf("%d bytes of silence, %v", n, err)
	}
	_ = s.SetWriteDeadline(time.Now().Add(time.Millisecond))
	if n, err := s.Write(make([]byte, 8<<20)); n == 8<<20 || !isTimeout(err) {
		t.Errorf("%d bytes to nobody, %v", n, err)
	}
	_ = s.SetDeadline(time.Time{})
	woken := make(chan error, 1)
	go func() { _, err := s.Read(make([]byte, 1)); woken <- err }()
	_ = s.SetReadDeadline(time.Unix(1, 0)) // before the read begins, or while it waits
	if err := <-woken; !isTimeout(err) {
		t.Error(err)
	}
	_ = s.SetReadDeadline(time.Time{})
	go func() { _, err := s.Read(make([]byte, 1)); woken <- err }()
	_ = s.Close()
	if err := <-woken; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, far)
}

func TestOtherEndIsGone(t *testing.T) {
	s, far := socketPair(t)
	_, _ = far.Write([]byte("last words"))
	_ = far.Close()
	if _, err := s.Write([]byte("x")); err == nil || isTimeout(err) {
		t.Errorf("writing: %v", err)
	}
	if got, err := io.ReadAll(s); string(got) != "last words" || err != nil {
		t.Errorf("reading: %q, %v", got, err)
	}
}

// Polling takes what is there, says when nothing is, and changes no later read.
func TestPoll(t *testing.T) {
	s, far := socketPair(t)
	b := make([]byte, 1)
	if n, err := s.Poll(s, b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes of silence, %v", n, err)
	}
	_, _ = far.Write([]byte("ab"))
	if n, err := s.Poll(s, b); n != 1 || err != nil || b[0] != 'a' {
		t.Errorf("%d bytes %q, %v", n, b, err)
	}
	if n, err := s.Read(b); n != 1 || err != nil || b[0] != 'b' {
		t.Errorf("%d bytes %q, %v", n, b, err)
	}
	_ = far.Close()
	if n, err := s.Poll(s, b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end %d bytes, %v", n, err)
	}
}

// Pipes are read and written alike. What may wait is left alone: the runtime would
// not know of it.
func TestPipes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	in, out := Reader(r), Writer(w)
	if _, ok := in.(*Stream); !ok {
		t.Errorf("a pipe is read by %T", in)
	}
	if _, err := out.Write([]byte("abc")); err != nil {
		t.Error(err)
	}
	b := make([]byte, 8)
	if n, err := in.Read(b); string(b[:n]) != "abc" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	if err := syscall.SetNonblock(int(w.Fd()), false); err != nil {
		t.Fatal(err)
	}
	if s := New(w); s != nil {
		t.Error("there is a stream that waits")
	}
	_ = w.Close()
	if n, err := in.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if s := New(w); s != nil {
		t.Error("there is a stream of a closed pipe")
	}
	if plain := Writer(io.Discard); plain != io.Discard {
		t.Errorf("what has no descriptor became %T", plain)
	}
}
