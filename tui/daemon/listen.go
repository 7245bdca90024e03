package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// SocketPath is where the daemon of a state home listens.
func SocketPath(home string) string { return filepath.Join(home, "run", "daemon.sock") }

// Listen opens the socket of the daemon of a state home, of which there is one at a time. The
// caller calls unlock when it has closed the socket.
func Listen(home string) (l *net.UnixListener, unlock func() error, err error) {
	const op = "open the daemon's socket"
	path := SocketPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", op, err)
	}
	lock := flock.New(path + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", op, err)
	}
	if !held {
		return nil, nil, fault.New("'ironcurtain-mux attach' shows it", "a daemon runs already")
	}
	// Whoever holds the lock knows that nobody listens at this path.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", op, err), lock.Unlock())
	}
	private, err := wire.ListenPrivate(path)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", op, err), lock.Unlock())
	}
	return private.(*net.UnixListener), lock.Unlock, nil
}
