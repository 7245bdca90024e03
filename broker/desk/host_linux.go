package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Host is the host's side of a desk.
type Host struct {
	conn *net.UnixConn
	// Process is the other side, for the process that is started. The caller closes it
	// afterwards.
	Process *os.File

	serving sync.WaitGroup
}

// Open makes a desk, whose first message says settings.
func Open(settings any) (*Host, error) {
	text, err := json.Marshal(settings)
	if err == nil && len(text) > maxMessage {
		err = fmt.Errorf("its settings have %d bytes", len(text))
	}
	if err != nil {
		return nil, fmt.Errorf("open the desk of a process: %w", err)
	}
	ours, theirs, err := pair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, fmt.Errorf("open the desk of a process: %w", err)
	}
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err == nil {
		_, err = conn.Write(text)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the desk of a process: %w", err), theirs.Close())
	}
	return &Host{conn: conn.(*net.UnixConn), Process: theirs}, nil //nolint:forcetypeassert // it was made as one
}

// pair makes two connected sockets.
func pair(kind int) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "host"), os.NewFile(uintptr(fds[1]), "process"), nil
}

// Serve hands out connections made by dial, until Close.
func (h *Host) Serve(ctx context.Context, dial func(context.Context) (*net.UnixConn, error)) {
	h.serving.Go(func() {
		request := make([]byte, 16)
		for {
			n, err := h.conn.Read(request)
			if err != nil || n != 1 { // it has ended, or asks for something that there is not
				_ = h.conn.Close()
				return
			}
			if err := h.hand(ctx, dial); err != nil {
				if _, err := h.conn.Write([]byte(err.Error())); err != nil {
					return
				}
			}
		}
	})
}

// hand makes a connection and hands it over.
func (h *Host) hand(ctx context.Context, dial func(context.Context) (*net.UnixConn, error)) error {
	conn, err := dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	file, err := Descriptor(conn)
	if err != nil {
		return err
	}
	defer file.Close()
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		_, _, sent = h.conn.WriteMsgUnix([]byte(handed), unix.UnixRights(int(fd)), nil)
	})
	return errors.Join(err, sent)
}

// Close ends the desk and waits until nothing is handed over any more. Connections that were
// handed over stay open.
func (h *Host) Close() error {
	err := h.conn.Close()
	h.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // the process has ended before
	}
	return err
}

// Descriptor returns a connection as a file for a process that cannot change how it waits.
func Descriptor(conn *net.UnixConn) (*os.File, error) {
	file, err := conn.File()
	if err != nil {
		return nil, err
	}
	raw, err := file.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) { failed = unix.SetNonblock(int(fd), true) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
