package calls

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns the two ends of a connection.
func pair(t testing.TB) (client, server *wire.Conn) {
	t.Helper()
	l, err := wire.ListenPrivate(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	client, server = wire.NewConn(a), wire.NewConn(b.(*net.UnixConn))
	for _, greeting := range [][2]*wire.Conn{{client, server}, {server, client}} { // the first frame is small
		if err := greeting[0].Send(wire.KindHello, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := greeting[1].Receive(); err != nil {
			t.Fatal(err)
		}
	}
	return client, server
}

// serve serves calls on a connection until the test ends, and returns the other end.
func serve(t testing.TB, s Served) *wire.Conn {
	t.Helper()
	client, server := pair(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(context.Background(), server, s)
	}()
	t.Cleanup(func() {
		_ = client.Close()
		<-done
	})
	return client
}

// asked is a Client of what is served.
func asked(t testing.TB, s Served) *Client {
	t.Helper()
	c := NewClient(serve(t, s))
	t.Cleanup(func() { _ = c.Disconnect() })
	return c
}

// say sends a frame as it is.
func say(t testing.TB, c *wire.Conn, text string) {
	t.Helper()
	if err := c.SendText("test", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear receives an answer.
func hear(t testing.TB, c *wire.Conn) (a answer) {
	t.Helper()
	text, err := c.ReceiveText()
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// stub is a broker in which a test needs little.
type stub struct {
	broker.Calls
	pending   []broker.Escalation
	decided   chan broker.Decision
	revoked   chan broker.Revocation
	subscribe func(ctx context.Context) (<-chan broker.Event, error)
	sessions  func(ctx context.Context) ([]broker.Session, error)
}

func (s *stub) Pending(context.Context) ([]broker.Escalation, error) { return s.pending, nil }

func (s *stub) Decide(_ context.Context, d broker.Decision) (broker.Resolution, error) {
	s.decided <- d
	return broker.Resolution{ID: d.ID, Won: true}, nil
}

func (s *stub) Revoke(_ context.Context, r broker.Revocation) (broker.Grant, error) {
	s.revoked <- r
	return broker.Grant{Number: r.Number}, nil
}

func (s *stub) Subscribe(ctx context.Context) (<-chan broker.Event, error) { return s.subscribe(ctx) }

func (s *stub) Sessions(ctx context.Context) ([]broker.Session, error) { return s.sessions(ctx) }

// publishing returns a Subscribe that sends what a test says until its reader goes.
func publishing(events <-chan broker.Event) func(context.Context) (<-chan broker.Event, error) {
	return func(ctx context.Context) (<-chan broker.Event, error) {
		out := make(chan broker.Event)
		go func() {
			defer close(out)
			for {
				select {
				case ev, more := <-events:
					if !more {
						return
					}
					select {
					case out <- ev:
					case <-ctx.Done():
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}()
		return out, nil
	}
}
