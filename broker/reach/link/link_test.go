package link

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ends are both ends of a link and its carriers.
type ends struct {
	host, inside *Link
	errs         chan error // of Carry at both ends; room for all that a test makes
}

func newEnds(t testing.TB) *ends {
	t.Helper()
	host := New(NewID())
	e := &ends{host: host, inside: New(host.ID()), errs: make(chan error, 64)}
	t.Cleanup(func() { e.host.Close(); e.inside.Close() })
	return e
}

// carry gives both ends a pair of connections as carrier, as a host and a container do. wait waits
// until both ends have given it up.
func (e *ends) carry(ctx context.Context, a, b io.ReadWriteCloser) (wait func()) {
	ended := make(chan struct{}, 2)
	go func() {
		defer func() { ended <- struct{}{} }()
		e.errs <- e.host.Carry(ctx, a, nil)
	}()
	go func() {
		defer func() { ended <- struct{}{} }()
		theirs, err := ReadHello(b)
		if err != nil {
			b.Close()
			e.errs <- err
			return
		}
		e.errs <- e.inside.Carry(ctx, b, &theirs)
	}()
	return func() { <-ended; <-ended }
}

func TestBothLanesCarryBothWays(t *testing.T) {
	for _, test := range []struct {
		name string
		lane func(*Link) io.ReadWriteCloser
	}{
		{"typed", (*Link).Typed},
		{"bulk", func(l *Link) io.ReadWriteCloser { return l.Bulk() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnds(t)
			a, b := net.Pipe()
			wait := e.carry(t.Context(), a, b)
			up, down := test.lane(e.host), test.lane(e.inside)
			for _, way := range []struct{ from, to io.ReadWriter }{{up, down}, {down, up}} {
				if _, err := io.WriteString(way.from, "all of it"); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, 9)
				if _, err := io.ReadFull(way.to, got); err != nil || string(got) != "all of it" {
					t.Fatalf("read %q, %v", got, err)
				}
			}
			if err := e.host.Close(); err != nil {
				t.Fatal(err)
			}
			wait()
			<-e.inside.Done()
			if _, err := down.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("reading at the other end's end: %v", err)
			}
		})
	}
}
