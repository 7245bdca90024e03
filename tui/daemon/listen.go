package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// SocketPath is the path of the socket of a state home's daemon.
func SocketPath(home string) string { return filepath.Join(home, "run", "daemon.sock") }

// TokenSocketPath is the path of the socket for clients with an answer token.
func TokenSocketPath(home string) string { return filepath.Join(home, "run", "answer.sock") }

// endLimit is how long a new daemon waits for the end of one that no longer serves clients.
const endLimit = 5 * time.Second

// Door is where clients connect: the socket of a state home's daemon, and the lock without which no
// process may listen there.
type Door struct {
	*net.UnixListener
	lock *os.File
}

// Unlock releases the lock. The caller has closed the socket.
func (d *Door) Unlock() error { return d.lock.Close() }

// Listen opens the socket of a state home's daemon. A state home has one daemon at a time.
func Listen(ctx context.Context, home string) (*Door, error) {
	const op = "open the daemon's socket"
	path := SocketPath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.Wrap(op, err, "make the directory writable or set IRONCURTAIN_HOME")
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if err := acquire(ctx, lock, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	// With the lock held, no other process listens at this path.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s: %w", op, err), lock.Close())
	}
	private, err := wire.ListenPrivate(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", op, err), lock.Close())
	}
	return &Door{private.(*net.UnixListener), lock}, nil
}

// acquire acquires the lock of the socket at a path.
func acquire(ctx context.Context, lock *os.File, path string) error {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	for {
		// Unlike a record lock, this one is kept when the process becomes another program.
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fault.Wrap("open the daemon's socket", err, "")
		}
		if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
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
