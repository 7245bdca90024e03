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

// keeperWait is how long Carry waits for the keeper to listen, if both have just been started.
const keeperWait = 3 * time.Second

// Carry hands this process's standard input and output over to the keeper that listens on a socket,
// as a carrier, and returns when the keeper no longer uses them. The process must live until then,
// because the engine ends the stream with it.
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

// handedOver is a carrier: the two descriptors of a process that has handed them over.
type handedOver struct {
	in, out *os.File
	from    net.Conn // the process ends when this is closed
	once    sync.Once
}

func (h *handedOver) Read(p []byte) (int, error)  { return h.in.Read(p) }
func (h *handedOver) Write(p []byte) (int, error) { return h.out.Write(p) }

// Close ends pending reads and writes, and the process.
func (h *handedOver) Close() error {
	h.once.Do(func() { _, _, _ = h.in.Close(), h.out.Close(), h.from.Close() })
	return nil
}

// takeOver receives two descriptors from a process. After an error it has closed all that it
// received.
func takeOver(conn *net.UnixConn) (*handedOver, error) {
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
		err = fmt.Errorf("received %d descriptors instead of 2", len(fds))
	}
	for _, fd := range fds {
		err = errors.Join(err, syscall.SetNonblock(fd, true)) // so that Close ends a pending read
	}
	if err != nil {
		for _, fd := range fds {
			_ = syscall.Close(fd)
		}
		return nil, err
	}
	return &handedOver{in: os.NewFile(uintptr(fds[0]), "carrier's input"), out: os.NewFile(uintptr(fds[1]), "carrier's output"), from: conn}, nil
}
