package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// StartError says why a daemon that Start has started does not serve clients.
type StartError struct{ wire.Started }

func (e *StartError) Error() string { return e.Op + ": " + e.Reason }

// Hint is the next thing to do.
func (e *StartError) Hint() string { return e.Next }

// Start starts a daemon with a command line, unless one serves clients already, and waits until it
// serves clients. It reports whether this call has started the daemon. The daemon has no terminal,
// and outlives this process. It writes to ReadyFD when it serves clients.
func Start(ctx context.Context, o Options, argv []string) (started bool, err error) {
	const op, next = "start the daemon", "make the directory writable or set IRONCURTAIN_HOME"
	if err := os.MkdirAll(filepath.Dir(o.Socket), 0o700); err != nil {
		return false, fault.Wrap(op, err, next)
	}
	lock := flock.New(o.Socket + ".starting") // one process at a time starts the daemon
	switch _, err := lock.TryLockContext(ctx, 10*time.Millisecond); {
	case errors.Is(err, fs.ErrPermission):
		return false, fault.Wrap(op, err, next)
	case err != nil:
		return false, fmt.Errorf("%s: %w", op, err)
	}
	defer func() { _ = lock.Unlock() }()
	if err := Reach(ctx, o); !errors.Is(err, ErrNoDaemon) {
		return false, err
	}
	told, ready, err := os.Pipe()
	if err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	defer told.Close()
	daemon := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives this process
	daemon.Dir, daemon.Env = "/", environment(os.Environ(), o.Variables)
	daemon.ExtraFiles = []*os.File{ready} // as ReadyFD
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = daemon.Start()
	_ = ready.Close()
	if err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	defer context.AfterFunc(ctx, func() { _ = told.SetReadDeadline(time.Now()) })()
	return true, errors.Join(awaitStart(told), daemon.Process.Release())
}

// Reach connects to the daemon and disconnects. It returns ErrNoDaemon if no daemon answers, and the
// reason if the daemon refuses this client.
func Reach(ctx context.Context, o Options) error {
	c, err := dial(ctx, o)
	if err != nil {
		return err
	}
	return c.conn.Close()
}

// ReadyFD is the descriptor to which a daemon that was started by Start writes a wire.Started.
const ReadyFD = 3

// awaitStart waits until the daemon serves clients, or returns why it does not.
func awaitStart(told io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(told, 64<<10))
	if err != nil {
		return fmt.Errorf("wait for the daemon: %w", err)
	}
	var s wire.Started
	if err := json.Unmarshal(text, &s); err != nil {
		return errors.New("start the daemon: it has ended without giving a reason")
	}
	if s.Reason != "" {
		return &StartError{s}
	}
	return nil
}
