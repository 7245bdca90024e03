package nonblock

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelSync has the kernel sync a file by its asynchronous input and output, one sync
// at a time. The end of each is told by an eventfd. See linux/aio_abi.h.
type kernelSync struct {
	file    syscall.RawConn
	command command
	context uintptr // aio_context_t
	event   *os.File
	end     *Stream // of event
}

// command is struct iocb. What a sync does not use is zero.
type command struct {
	_         uint64 // data
	_, _      uint32 // key, flags of reading and writing
	operation uint16
	_         int16 // priority
	file      uint32
	_, _, _   uint64 // buffer, its length, place in the file
	_         uint64 // reserved
	flags     uint32
	event     uint32
}

const (
	operationSync = 2 // IOCB_CMD_FSYNC
	flagEvent     = 1 // IOCB_FLAG_RESFD
)

// completion is struct io_event.
type completion struct {
	_, _   uint64 // data, command
	result int64  // an error number when it is negative
	_      int64
}

// newKernelSync returns nil when the kernel has nothing of the kind for this process.
func newKernelSync(f *os.File) *kernelSync {
	file, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil
	}
	event := os.NewFile(uintptr(fd), "end of a sync")
	k := &kernelSync{file: file, event: event, end: New(event)}
	k.command = command{operation: operationSync, flags: flagEvent, event: uint32(fd)}
	if k.end != nil {
		_, _, errno := syscall.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&k.context)), 0) //nolint:gosec // it outlives the call
		if errno == 0 {
			return k
		}
	}
	_ = event.Close()
	return nil
}

// begin has the kernel begin a sync. It returns false when the kernel does not.
func (k *kernelSync) begin() (begun bool) {
	list := [...]*command{&k.command}
	err := k.file.Control(func(fd uintptr) {
		k.command.file = uint32(fd)
		n, _, errno := syscall.RawSyscall(unix.SYS_IO_SUBMIT, k.context, 1, uintptr(unsafe.Pointer(&list))) //nolint:gosec // the kernel copies it
		begun = errno == 0 && n == 1
	})
	return err == nil && begun
}

// result waits for the end of the sync that was begun and returns how it ended.
func (k *kernelSync) result() error {
	var count [8]byte
	if _, err := io.ReadFull(k.end, count[:]); err != nil {
		return err
	}
	var c completion
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, k.context, 1, 1, uintptr(unsafe.Pointer(&c)), 0, 0) //nolint:gosec // it outlives the call
	switch {
	case errno != 0:
		return errno
	case n != 1:
		return syscall.EIO
	case c.result < 0:
		return syscall.Errno(-c.result)
	}
	return nil
}

// release waits for what the kernel has begun.
func (k *kernelSync) release() {
	_, _, _ = syscall.Syscall(unix.SYS_IO_DESTROY, k.context, 0, 0)
	_ = k.event.Close()
}
