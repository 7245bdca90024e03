//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

// free are the system calls that are allowed: for open descriptors, memory, threads, clocks, and
// the end of the process. Go's runtime needs them.
var free = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_FUTEX,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_SCHED_YIELD, unix.SYS_GETTID,
	unix.SYS_GETPID, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETRANDOM, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL,
	unix.SYS_GETRUSAGE, unix.SYS_RESTART_SYSCALL, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
}

// refused are calls that Go's libraries try but do not need, and the errors that they get.
var refused = map[uint32]unix.Errno{
	unix.SYS_CLONE3: unix.ENOSYS, // a filter cannot see its flags, which are in memory; clone is used instead
	unix.SYS_PRCTL:  unix.EPERM,  // used to name memory
	unix.SYS_IOCTL:  unix.ENOTTY, // used to find out whether a descriptor is a terminal
	unix.SYS_FCNTL:  unix.EPERM,
}

const (
	// A new thread shares all of these. A clone that does not share them is a new process.
	thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	// spaces are the flags that give a new thread namespaces of its own.
	spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
)

// Offsets in the data that a filter gets for a system call, on little-endian machines, and the parts
// of filter instructions.
const (
	number, machine        = 0, 4
	first, second, third   = 16, 24, 32
	allow                  = unix.SECCOMP_RET_ALLOW
	kill                   = unix.SECCOMP_RET_KILL_PROCESS
	refuse                 = unix.SECCOMP_RET_ERRNO
	load                   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	isEqual, hasAny, apply = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
)

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
func verdict(v uint32) unix.SockFilter         { return op(unix.BPF_RET|unix.BPF_K, v) }
func only(k uint32, otherwise uint8) unix.SockFilter {
	return unix.SockFilter{Code: isEqual, K: k, Jf: otherwise}
}

// permit allows a call if its second argument is value, and answers it with errno otherwise.
func permit(call, value uint32, errno unix.Errno) []unix.SockFilter {
	return []unix.SockFilter{only(call, 4), op(load, second), only(value, 1), verdict(allow), verdict(refuse | uint32(errno))}
}

// handed returns the additional rules for Limits.Handed.
func handed() []unix.SockFilter {
	p := []unix.SockFilter{
		only(unix.SYS_RECVMSG, 1), verdict(allow),
		only(unix.SYS_SHUTDOWN, 1), verdict(allow),
		only(unix.SYS_OPENAT, 1), verdict(refuse | uint32(unix.EACCES)),
	}
	p = append(p, permit(unix.SYS_IOCTL, unix.TIOCGWINSZ, unix.ENOTTY)...)
	return append(p, permit(unix.SYS_FCNTL, unix.F_GETFL, unix.EPERM)...) // used to find out whether a descriptor blocks
}

// program returns the filter for the process self. A call that the filter does not name ends the
// process.
func program(self uint32, more []unix.SockFilter) []unix.SockFilter {
	p := []unix.SockFilter{
		op(load, machine),
		{Code: isEqual, K: arch, Jt: 1},
		verdict(kill),
		op(load, number),
	}
	for _, call := range free {
		p = append(p, only(call, 1), verdict(allow))
	}
	p = append(p, more...)
	for call, errno := range refused {
		p = append(p, only(call, 1), verdict(refuse|uint32(errno)))
	}
	for _, call := range []uint32{unix.SYS_MMAP, unix.SYS_MPROTECT} { // allowed, except for executable memory
		p = append(p, only(call, 4), op(load, third), unix.SockFilter{Code: hasAny, K: unix.PROT_EXEC, Jf: 1}, verdict(kill), verdict(allow))
	}
	p = append(p, only(unix.SYS_CLONE, 7), op(load, first),
		unix.SockFilter{Code: hasAny, K: spaces, Jt: 4}, op(apply, thread), unix.SockFilter{Code: isEqual, K: thread, Jf: 2},
		verdict(allow), verdict(kill), verdict(kill))
	// Go's runtime sends signals to its own threads.
	p = append(p, only(unix.SYS_TGKILL, 4), op(load, first), unix.SockFilter{Code: isEqual, K: self, Jt: 1}, verdict(kill), verdict(allow))
	return append(p, verdict(kill))
}
