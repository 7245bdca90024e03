package daemon

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// become makes this process another program, at a path, with the arguments that argv returns for
// the descriptors of the files, which stay open. It returns only if that fails.
func become(path string, argv func(fds []int) []string, files []syscall.RawConn) error {
	// No program that is started meanwhile gets the files: exec ends all other threads.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	var fds []int
	defer func() {
		for _, fd := range fds {
			syscall.CloseOnExec(fd)
		}
	}()
	for _, f := range files {
		var failed error
		err := f.Control(func(fd uintptr) {
			fds = append(fds, int(fd))
			_, failed = unix.FcntlInt(fd, unix.F_SETFD, 0)
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	err := syscall.Exec(path, argv(fds), os.Environ())
	runtime.KeepAlive(files)
	return err
}

// Inherited are the descriptors that a program has from the one that this process was before.
type Inherited struct{ Socket, Lock, Memory int }

// String is read by Set.
func (i *Inherited) String() string {
	if *i == (Inherited{}) {
		return ""
	}
	return fmt.Sprintf("%d,%d,%d", i.Socket, i.Lock, i.Memory)
}

// Set reads what String has written.
func (i *Inherited) Set(text string) error {
	_, err := fmt.Sscanf(text, "%d,%d,%d", &i.Socket, &i.Lock, &i.Memory)
	return err
}

// Type names the value for people.
func (i *Inherited) Type() string { return "descriptors" }

// KeepInherited keeps what this process was left open by the one that started it, or that it
// was before, from each program that it starts from now on.
func KeepInherited() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fault.Wrap("look at inherited descriptors", err, "")
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// Take returns the door, and what the former program has written.
func (i *Inherited) Take() (*Door, io.ReadCloser, error) {
	const op = "go on with the daemon"
	socket := os.NewFile(uintptr(i.Socket), "socket")
	memory := os.NewFile(uintptr(i.Memory), "memory")
	lock := os.NewFile(uintptr(i.Lock), "lock")
	if socket == nil || memory == nil || lock == nil {
		return nil, nil, fault.Wrap(op, errors.New("the descriptors are none"), "")
	}
	l, err := net.FileListener(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return nil, nil, fault.Wrap(op, err, "")
	}
	unixListener, is := l.(*net.UnixListener)
	if !is {
		return nil, nil, fault.Wrap(op, errors.New("the socket is none"), "")
	}
	unixListener.SetUnlinkOnClose(true)
	door := &Door{unixListener, lock}
	if !sealed(memory) {
		return door, nil, errors.Join(fault.New("", "%s: what was handed over is not sealed", op), memory.Close())
	}
	if _, err := memory.Seek(0, io.SeekStart); err != nil {
		return door, nil, errors.Join(fault.Wrap(op, err, ""), memory.Close())
	}
	return door, memory, nil
}
