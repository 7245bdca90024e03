//go:build amd64 || arm64

package confine

import "golang.org/x/sys/unix"

// free are the system calls that have no power beyond what is open: descriptors that exist,
// memory, threads, clocks, and the end. Go's runtime needs them.
var free = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_FUTEX,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_SCHED_YIELD, unix.SYS_GETTID,
	unix.SYS_GETPID, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETRANDOM, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL,
	unix.SYS_GETRUSAGE, unix.SYS_RESTART_SYSCALL, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
}

// refused are calls that Go's libraries try and can do without, and what they are told.
var refused = map[uint32]unix.Errno{
	unix.SYS_CLONE3: unix.ENOSYS, // its flags lie in memory, where a filter cannot look: clone is used
	unix.SYS_PRCTL:  unix.EPERM,  // names for memory
	unix.SYS_IOCTL:  unix.ENOTTY, // whether something is a terminal
	unix.SYS_FCNTL:  unix.EPERM,
}

const (
	// A thread shares all of these with the others. What does not is a process.
	thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	// spaces are the namespaces that a new thread could be given.
	spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
)

// Offsets in what a filter sees of a call, on machines that store the low half of an
// argument first.
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

// permit lets a call pass whose second argument is value, and answers any other with errno.
func permit(call, value uint32, errno unix.Errno) []unix.SockFilter {
	return []unix.SockFilter{only(call, 4), op(load, second), only(value, 1), verdict(allow), verdict(refuse | uint32(errno))}
}

// handed is what a process may do besides that takes descriptors from another one.
func handed() []unix.SockFilter {
	p := []unix.SockFilter{
		only(unix.SYS_RECVMSG, 1), verdict(allow),
		only(unix.SYS_SHUTDOWN, 1), verdict(allow),
		only(unix.SYS_OPENAT, 1), verdict(refuse | uint32(unix.EACCES)),
	}
	p = append(p, permit(unix.SYS_IOCTL, unix.TIOCGWINSZ, unix.ENOTTY)...)
	return append(p, permit(unix.SYS_FCNTL, unix.F_GETFL, unix.EPERM)...) // whether it blocks
}

// program is the filter for the process self: what it does not name ends the process.
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
	for _, call := range []uint32{unix.SYS_MMAP, unix.SYS_MPROTECT} { // but no memory that can be executed
		p = append(p, only(call, 4), op(load, third), unix.SockFilter{Code: hasAny, K: unix.PROT_EXEC, Jf: 1}, verdict(kill), verdict(allow))
	}
	p = append(p, only(unix.SYS_CLONE, 7), op(load, first),
		unix.SockFilter{Code: hasAny, K: spaces, Jt: 4}, op(apply, thread), unix.SockFilter{Code: isEqual, K: thread, Jf: 2},
		verdict(allow), verdict(kill), verdict(kill))
	// The runtime interrupts its own threads.
	p = append(p, only(unix.SYS_TGKILL, 4), op(load, first), unix.SockFilter{Code: isEqual, K: self, Jt: 1}, verdict(kill), verdict(allow))
	return append(p, verdict(kill))
}
