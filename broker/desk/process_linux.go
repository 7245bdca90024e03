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

// Process is the process' side of a desk.
type Process struct {
	file *os.File
	one  sync.Mutex // held from a request to its answer
}

// At returns the desk at a descriptor of the process. Call it before the process is locked.
func At(fd uintptr) *Process { return &Process{file: os.NewFile(fd, "desk")} }

// Settings reads what the host has to say first.
func (p *Process) Settings(into any) error {
	text, _, err := p.receive()
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	return nil
}

// Dial gets a connection. The host answers a request at once, so ctx is not looked at while
// it does.
func (p *Process) Dial(ctx context.Context) (net.Conn, error) {
	p.one.Lock()
	defer p.one.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := p.file.Write([]byte{0}); err != nil {
		return nil, ErrClosed
	}
	text, fd, err := p.receive()
	switch {
	case err != nil:
		return nil, err
	case fd < 0:
		return nil, errors.New(string(text))
	}
	return Conn{os.NewFile(uintptr(fd), "connection")}, nil
}

// receive returns the next message, and the descriptor that came with it or -1.
func (p *Process) receive() (text []byte, fd int, err error) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return nil, -1, err
	}
	text, control := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	var n, rights int
	var failed error
	err = raw.Read(func(at uintptr) bool {
		n, rights, _, _, failed = unix.Recvmsg(int(at), text, control, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil || n == 0 {
		return nil, -1, errors.Join(err, ErrClosed)
	}
	messages, err := unix.ParseSocketControlMessage(control[:rights])
	if err != nil || len(messages) == 0 {
		return text[:n], -1, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return text[:n], -1, err
	}
	return text[:n], fds[0], nil
}

// Conn is a descriptor as a connection, for a process that cannot ask the kernel about it.
type Conn struct{ *os.File }

// CloseWrite closes the direction to the other side.
func (c Conn) CloseWrite() error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) })
	return errors.Join(err, failed)
}

// LocalAddr says nothing: a process that was handed a connection need not know.
func (Conn) LocalAddr() net.Addr { return nowhere{} }

// RemoteAddr says as little.
func (Conn) RemoteAddr() net.Addr { return nowhere{} }

type nowhere struct{}

func (nowhere) Network() string { return "desk" }
func (nowhere) String() string  { return "desk" }
