package mitm

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Polling takes what is there, says when nothing is, and changes no later read.
func TestPoll(t *testing.T) {
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
	defer func() { _, _ = near.Close(), far.Close() }()
	s, ok := newSocket(near).(*socket)
	if !ok {
		t.Fatal("a socket cannot be polled")
	}
	b := make([]byte, 1)
	if n, err := s.poll(s, b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes of silence, %v", n, err)
	}
	_, _ = far.Write([]byte("ab"))
	if n, err := s.poll(s, b); n != 1 || err != nil || b[0] != 'a' {
		t.Errorf("%d bytes %q, %v", n, b, err)
	}
	if n, err := s.Read(b); n != 1 || err != nil || b[0] != 'b' {
		t.Errorf("%d bytes %q, %v", n, b, err)
	}
	_ = far.Close()
	if n, err := s.poll(s, b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end %d bytes, %v", n, err)
	}
}
