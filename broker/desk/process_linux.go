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
	file   *os.File
	asking sync.Mutex // held from a request to its answer
}

// At returns the desk at a descriptor of the process. Call it before the process is locked.
func At(fd uintptr) *Process { return &Process{file: os.NewFile(fd, "desk")} }

// Settings reads the settings, the host's first message.
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

// Dial gets a connection from the host. It checks ctx only before the request, because the host answers
// at once.
func (p *Process) Dial(ctx context.Context) (net.Conn, error) {
	p.asking.Lock()
	defer p.asking.Unlock()
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

// receive returns the next message, and its descriptor or -1.
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

// Conn makes a connection of a descriptor without the system calls that a locked process cannot make.
type Conn struct{ *os.File }

// CloseWrite closes the sending direction.
func (c Conn) CloseWrite() error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) })
	return errors.Join(err, failed)
}

// LocalAddr returns a placeholder.
func (Conn) LocalAddr() net.Addr { return address{} }

// RemoteAddr returns a placeholder.
func (Conn) RemoteAddr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "desk" }
func (address) String() string  { return "desk" }
