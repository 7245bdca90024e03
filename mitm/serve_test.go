package mitm

import (
	"net"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// outOfFiles is a listener that fails at first, as in a process without descriptors.
type outOfFiles struct {
	net.Listener
	left atomic.Int32
}

func (f *outOfFiles) Accept() (net.Conn, error) {
	if f.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

// A process that was out of descriptors for a moment says so, and still serves its agents.
func TestAFailedAcceptIsToldAndTriedAgain(t *testing.T) {
	var told atomic.Int32
	s := newHarness(t, func(c *Config) {
		c.Activity = func(a Activity) {
			if a.Kind == AcceptFailed && a.Text != "" {
				told.Add(1)
			}
		}
	})
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	failing := &outOfFiles{Listener: l}
	failing.left.Store(3)
	served := make(chan error, 1)
	go func() { served <- s.proxy.Serve(failing) }()
	far, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	if _, err := far.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 1 || told.Load() != 3 {
		t.Errorf("%d bytes, %v; told %d times", n, err, told.Load())
	}
	if err := s.proxy.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
