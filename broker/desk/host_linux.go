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
	// Process is the process' side. The caller closes it after starting the process.
	Process *os.File

	serving sync.WaitGroup
}

// Open makes a desk and sends the settings, as JSON.
func Open(settings any) (*Host, error) {
	text, err := json.Marshal(settings)
	if err == nil && len(text) > maxMessage {
		err = fmt.Errorf("the settings have %d bytes, more than %d", len(text), maxMessage)
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
	return &Host{conn: conn.(*net.UnixConn), Process: theirs}, nil //nolint:forcetypeassert // pair makes Unix sockets
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
			if err != nil || n != 1 { // the process has ended, or the request is invalid
				_ = h.conn.Close()
				return
			}
			if err := h.sendConnection(ctx, dial); err != nil {
				if _, err := h.conn.Write([]byte(err.Error())); err != nil {
					return
				}
			}
		}
	})
}

// sendConnection makes a connection and sends its descriptor.
func (h *Host) sendConnection(ctx context.Context, dial func(context.Context) (*net.UnixConn, error)) error {
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
		_, _, sent = h.conn.WriteMsgUnix([]byte(descriptorSent), unix.UnixRights(int(fd)), nil)
	})
	return errors.Join(err, sent)
}

// Close closes the desk and waits for Serve. Connections that were handed out stay open.
func (h *Host) Close() error {
	err := h.conn.Close()
	h.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // Serve has closed it
	}
	return err
}

// Descriptor returns a connection as a non-blocking file, because a locked process cannot change that.
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
