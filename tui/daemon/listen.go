package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// SocketPath is where the daemon of a state home listens.
func SocketPath(home string) string { return filepath.Join(home, "run", "daemon.sock") }

// endLimit is how long a new daemon waits for the end of one that serves no clients any more.
const endLimit = 5 * time.Second

// Listen opens the socket of the daemon of a state home, of which there is one at a time. The
// caller calls unlock when it has closed the socket.
func Listen(ctx context.Context, home string) (l *net.UnixListener, unlock func() error, err error) {
	const op = "open the daemon's socket"
	path := SocketPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fault.Wrap(op, err, "make the directory writable or set IRONCURTAIN_HOME")
	}
	lock := flock.New(path + ".lock")
	if err := take(ctx, lock, path); err != nil {
		return nil, nil, err
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

// take takes the lock of the socket at a path.
func take(ctx context.Context, lock *flock.Flock, path string) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	for {
		switch held, err := lock.TryLock(); {
		case err != nil:
			return fmt.Errorf("open the daemon's socket: %w", err)
		case held:
			return nil
		}
		if c, err := net.Dial("unix", path); err == nil {
			_ = c.Close()
			return fault.New("'ironcurtain-mux attach' shows it", "a daemon runs already")
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fault.New("try again in a moment", "another daemon is still ending its sessions")
		}
	}
}
