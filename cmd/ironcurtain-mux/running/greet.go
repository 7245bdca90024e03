package running

import (
	"context"
	"errors"
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// Greet returns how the daemon of a home describes itself. The error is ErrNotRunning when none
// runs.
func Greet(ctx context.Context, home string) (wire.Welcome, error) {
	o := optionsAt(home)
	conn, w, err := wire.Dial(ctx, o.Socket, wire.Hello{Version: o.Version, Kind: wire.ForCalls, Rights: wire.See, Name: o.Name, Terminal: o.Terminal})
	if errors.Is(err, client.ErrNoDaemon) {
		return w, ErrNotRunning
	}
	if err != nil {
		return w, err
	}
	return w, conn.Close()
}

// Process returns the id of the daemon's process, even if the daemon does not answer; 0: none runs.
func Process(home string) int {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: daemon.SocketPath(home), Net: "unix"})
	if err != nil {
		return 0
	}
	defer conn.Close()
	pid, err := wire.PeerProcess(conn)
	if err != nil {
		return 0
	}
	return pid
}
