package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// keeperWait is how long a carrier waits for the keeper to listen, when both have just been
// started.
const keeperWait = 3 * time.Second

// Carry hands this process's standard input and output to the keeper that listens on a
// socket, as a carrier, and returns when the keeper has done with them. The process stays
// until then, because the engine ends the stream with it.
func Carry(ctx context.Context, socket string) error {
	const op = "hand over to the keeper"
	limited, cancel := context.WithTimeout(ctx, keeperWait)
	conn, err := dial(limited, socket)
	cancel()
	if err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	defer conn.Close()
	if _, _, err := conn.WriteMsgUnix([]byte{0}, syscall.UnixRights(0, 1), nil); err != nil {
		return fmt.Errorf(op+": %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = io.Copy(io.Discard, conn)
	return nil
}

// handed is a carrier: the two descriptors of a process that has handed them over.
type handed struct {
	in, out *os.File
	from    net.Conn // that process waits for its end
	once    sync.Once
}

func (h *handed) Read(p []byte) (int, error)  { return h.in.Read(p) }
func (h *handed) Write(p []byte) (int, error) { return h.out.Write(p) }

// Close ends reading and writing, and the process.
func (h *handed) Close() error {
	h.once.Do(func() { _, _, _ = h.in.Close(), h.out.Close(), h.from.Close() })
	return nil
}

// takeOver takes two descriptors from a process. On error it closes all that came.
func takeOver(conn *net.UnixConn) (*handed, error) {
	rights := make([]byte, syscall.CmsgSpace(2*4))
	_, n, flags, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	var fds []int
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	for _, m := range messages {
		some, failed := syscall.ParseUnixRights(&m)
		fds, err = append(fds, some...), errors.Join(err, failed)
	}
	if err == nil && (len(fds) != 2 || flags&syscall.MSG_CTRUNC != 0) {
		err = fmt.Errorf("%d descriptors came in place of 2", len(fds))
	}
	for _, fd := range fds {
		err = errors.Join(err, syscall.SetNonblock(fd, true)) // so that closing ends a read
	}
	if err != nil {
		for _, fd := range fds {
			_ = syscall.Close(fd)
		}
		return nil, err
	}
	return &handed{in: os.NewFile(uintptr(fds[0]), "carrier's input"), out: os.NewFile(uintptr(fds[1]), "carrier's output"), from: conn}, nil
}
