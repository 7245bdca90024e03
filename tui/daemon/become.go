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

// become replaces this process by the program at a path. The files stay open, and argv returns the
// arguments for their descriptors. become returns only if it fails.
func become(path string, argv func(fds []int) []string, files []syscall.RawConn) error {
	// The lock keeps the files from programs that other threads start; exec ends those threads.
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

// Inherited are the descriptors that this program inherits from the one that ran in this process
// before.
type Inherited struct{ Socket, Lock, Memory int }

// String formats the descriptors for Set.
func (i *Inherited) String() string {
	if *i == (Inherited{}) {
		return ""
	}
	return fmt.Sprintf("%d,%d,%d", i.Socket, i.Lock, i.Memory)
}

// Set parses what String has written.
func (i *Inherited) Set(text string) error {
	_, err := fmt.Sscanf(text, "%d,%d,%d", &i.Socket, &i.Lock, &i.Memory)
	return err
}

// Type names the value in the help of a flag.
func (i *Inherited) Type() string { return "descriptors" }

// KeepInherited keeps all inherited descriptors to this process: programs that it starts from now
// on do not get them.
func KeepInherited() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fault.Wrap("list inherited descriptors", err, "")
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// Take returns the door, and the state that the former program has saved.
func (i *Inherited) Take() (*Door, io.ReadCloser, error) {
	const op = "continue the daemon"
	socket := os.NewFile(uintptr(i.Socket), "socket")
	memory := os.NewFile(uintptr(i.Memory), "memory")
	lock := os.NewFile(uintptr(i.Lock), "lock")
	if socket == nil || memory == nil || lock == nil {
		return nil, nil, fault.Wrap(op, errors.New("an inherited descriptor is not valid"), "")
	}
	l, err := net.FileListener(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return nil, nil, fault.Wrap(op, err, "")
	}
	unixListener, is := l.(*net.UnixListener)
	if !is {
		return nil, nil, fault.Wrap(op, errors.New("the inherited socket is not a Unix socket"), "")
	}
	unixListener.SetUnlinkOnClose(true)
	door := &Door{unixListener, lock}
	if !sealed(memory) {
		return door, nil, errors.Join(fault.New("", "%s: the saved state is not sealed", op), memory.Close())
	}
	if _, err := memory.Seek(0, io.SeekStart); err != nil {
		return door, nil, errors.Join(fault.Wrap(op, err, ""), memory.Close())
	}
	return door, memory, nil
}
