package docker

import (
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// An engine elsewhere is asked over connections that are kept, and nobody asks it anything
// to learn that it is there.
func TestEngineElsewhereIsLeftAlone(t *testing.T) {
	for name, secure := range map[string]bool{"tcp": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			c, r := relayed(t, secure)
			before := r.connections.Load()
			for range 20 {
				if err := c.Ping(deadline(t, patience)); err != nil {
					t.Fatal(err)
				}
				if _, err := c.List(deadline(t, patience), nil); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Version(deadline(t, patience)); err != nil {
					t.Fatal(err)
				}
				if _, err := c.state(deadline(t, patience), "nonesuch"); !errors.Is(err, ErrNoContainer) {
					t.Fatal(err)
				}
			}
			if more := r.connections.Load() - before; more > 1 {
				t.Errorf("%d connections for 100 requests", more)
			}
			sent := r.sent.Load()
			if err := c.Alive(deadline(t, patience)); err != nil {
				t.Fatal(err)
			}
			eventually(t, patience, "the open request", func() bool { return r.sent.Load() > sent })
			connections, sent := r.connections.Load(), r.sent.Load()
			for range 100 {
				if err := c.Alive(deadline(t, patience)); err != nil {
					t.Fatal(err)
				}
			}
			if r.connections.Load() != connections || r.sent.Load() != sent {
				t.Errorf("asking a hundred times costs %d connections and %d bytes", r.connections.Load()-connections, r.sent.Load()-sent)
			}
		})
	}
}

// An engine of this machine is asked over new connections, of which none is kept.
func TestEngineOfThisMachineIsPinged(t *testing.T) {
	path := filepath.Join(shortDir(t), "d.sock")
	r := startRelay(t, listen(t, path))
	c, err := Connect(deadline(t, patience), Endpoint{Address: "unix://" + path, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	before := r.connections.Load()
	for range 3 {
		if err := c.Alive(deadline(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.connections.Load() - before; n != 3 {
		t.Errorf("%d connections", n)
	}
	eventually(t, patience, "the end of connections", func() bool { return r.open() == 0 })
}

// An engine elsewhere that goes away is missed, and found again when it is back.
func TestEngineElsewhereGoesAway(t *testing.T) {
	c, r := relayed(t, false)
	if err := c.Alive(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	address := r.listener.Addr().String()
	r.down()
	eventually(t, patience, "the engine's absence", func() bool { return c.Alive(deadline(t, patience)) != nil })
	if err := c.Alive(deadline(t, patience)); !errors.Is(err, ErrEngineRefuses) {
		t.Errorf("said %v", err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	startRelay(t, l)
	eventually(t, patience, "the engine's return", func() bool { return c.Alive(deadline(t, patience)) == nil })
	if err := c.Ping(deadline(t, patience)); err != nil {
		t.Error(err)
	}
}

// The end of the client ends the open request and the idle connections.
func TestClosedClientHasNoConnections(t *testing.T) {
	c, r := relayed(t, false)
	sent := r.sent.Load()
	for range 3 {
		if err := c.Alive(deadline(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, patience, "the open request", func() bool { return r.sent.Load() > sent })
	if _, err := c.Version(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	if r.open() == 0 {
		t.Fatal("no connection is kept")
	}
	if err := c.Close(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "the end of all connections", func() bool { return r.open() == 0 })
}

// A proxy that forbids the open request is an answer; a failing engine is none.
func TestOpenRequestIsRefused(t *testing.T) {
	for status, alive := range map[int]bool{http.StatusForbidden: true, http.StatusInternalServerError: false} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int64
			c := scriptedAt(t, l, "tcp://"+l.Addr().String(), func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.WriteHeader(status)
			})
			eventually(t, patience, "the second request", func() bool {
				_ = c.Alive(deadline(t, patience))
				return asked.Load() >= 2
			})
			if err := c.Alive(deadline(t, patience)); alive != (err == nil) {
				t.Errorf("%v", err)
			}
		})
	}
}
