package mcpproxy

import (
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// failing is a listener whose accept fails a number of times before each connection.
type failing struct {
	net.Listener
	times, left atomic.Int32
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	f.left.Store(f.times.Load())
	return f.Listener.Accept()
}

func newFailing(t *testing.T, dir string) *failing {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, "failing"))
	if err != nil {
		t.Fatal(err)
	}
	f := &failing{Listener: l}
	f.times.Store(3)
	f.left.Store(3)
	return f
}

// TestAFailedAcceptIsTriedAgain: a process that was out of descriptors for a moment
// still serves the tools of its sessions.
func TestAFailedAcceptIsTriedAgain(t *testing.T) {
	for name, serve := range map[string]func(*Proxy, net.Listener) error{
		"socket": (*Proxy).Serve,
		"token":  func(p *Proxy, l net.Listener) error { return p.ServeToken(l, testToken) },
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Int32
			r := newHarness(t, func(c *Config) {
				c.Activity = func(a Activity) {
					if a.Kind == AcceptFailed {
						told.Add(1)
					}
				}
			})
			l := newFailing(t, r.dir)
			served := make(chan error, 1)
			go func() { served <- serve(r.proxy, l) }()
			for range 2 {
				conn, err := net.Dial("unix", l.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				a := newAgent(t, conn)
				if name == "token" {
					a.send("Bearer " + testToken)
				}
				a.greet()
				if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
					t.Errorf("answer %s", m.Result)
				}
			}
			if told.Load() < 6 {
				t.Errorf("it was told of %d failures", told.Load())
			}
			r.close()
			if err := <-served; err != nil {
				t.Errorf("serving ended with %v", err)
			}
		})
	}
}

// TestALostListenerIsNoOrderlyEnd: whoever serves must learn that nobody can come.
func TestALostListenerIsNoOrderlyEnd(t *testing.T) {
	r := newHarness(t, nil)
	l := newFailing(t, r.dir)
	_ = l.Close()
	if err := r.proxy.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serving ended with %v", err)
	}
}
