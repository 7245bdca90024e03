package running

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// A client with a token waits for the end of an upgrade, which ends its first connection, and is told
// at once that no daemon runs when there is no socket.
func TestATokenWaitsForTheEndOfAnUpgrade(t *testing.T) {
	home, err := os.MkdirTemp("", "ic") // short, as the paths of sockets must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	t.Setenv(client.TokenVariable, "secret")
	socket := daemon.TokenSocketPath(home)
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	asked := 0
	ask := func() error {
		return Ask(t.Context(), home, func(context.Context, *calls.Client) error { asked++; return nil })
	}
	if err := ask(); err == nil || !strings.Contains(err.Error(), "no daemon runs") || asked != 0 {
		t.Fatalf("without a socket: %v", err)
	}
	l, err := wire.ListenPrivate(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		before, err := l.Accept()
		if err == nil {
			err = before.Close() // as the end of the former program does
		}
		after, errAfter := l.Accept()
		if err = errors.Join(err, errAfter); err == nil {
			c := wire.NewConn(after.(*net.UnixConn))
			_, err = c.Receive()
			err = errors.Join(err, c.Send(wire.KindWelcome, wire.Welcome{}), c.Close())
		}
		served <- err
	}()
	if err := ask(); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	_ = l.Close() // the second Accept must end if Ask did not connect again
	if err := <-served; err != nil {
		t.Error(err)
	}
}
