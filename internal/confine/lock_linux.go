//go:build amd64 || arm64

package confine

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Lock locks the process and sets the limits. Call it before the process reads anything that
// is not trusted. If Lock fails, the process may be partly locked, and must end.
func Lock(l Limits) error {
	if err := dropRoot(); err != nil {
		return fmt.Errorf("give up root: %w", err)
	}
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, l.File},
		{unix.RLIMIT_NOFILE, l.Open},
		{unix.RLIMIT_CPU, l.Seconds},
		{unix.RLIMIT_DATA, l.Memory},
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("set limit %d: %w", limit.resource, err)
		}
	}
	// No other process of the user can read the memory or control a thread.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid tracing: %w", err)
	}
	// Only a thread that can gain no new privileges may set the filter.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	var more []unix.SockFilter
	if l.Handed {
		more = handed()
	}
	filter := program(uint32(unix.Getpid()), more)
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // prog outlives the call
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("filter system calls: thread %d keeps another filter", thread)
	}
	return nil
}

// nobody is the user and the group that root's processes become.
const nobody = 1000

func dropRoot() error {
	if unix.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(nobody, nobody, nobody); err != nil {
		return err
	}
	return syscall.Setresuid(nobody, nobody, nobody)
}
