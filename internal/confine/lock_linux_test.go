package confine_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// newest is beyond every system call that a kernel has.
const newest = 700

// locked builds the program that locks itself and makes one system call.
func locked(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "locked")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", path, "./testdata/locked")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// try makes one system call in a locked process. It returns what the call returned, or that
// the call has ended the process.
func try(t *testing.T, program string, handed bool, call ...uint64) string {
	t.Helper()
	var words []string
	for _, n := range call {
		words = append(words, strconv.FormatUint(n, 10))
	}
	cmd := exec.CommandContext(t.Context(), program, words...)
	cmd.Env = []string{"GOMAXPROCS=2"}
	if handed {
		cmd.Env = append(cmd.Env, "HANDED=1")
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	if text, ok := strings.CutPrefix(out.String(), "errno "); ok && err == nil {
		return strings.TrimSpace(text)
	}
	return fmt.Sprintf("%v %q", err, out.String())
}

// passes are the calls that do not end the process when their arguments are zero.
var passes = map[uint64]bool{
	unix.SYS_READ: true, unix.SYS_WRITE: true, unix.SYS_CLOSE: true, unix.SYS_MUNMAP: true, unix.SYS_MADVISE: true,
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_CLOCK_NANOSLEEP: true, unix.SYS_CLOCK_GETTIME: true,
	unix.SYS_SCHED_YIELD: true, unix.SYS_GETTID: true, unix.SYS_GETPID: true, unix.SYS_RT_SIGACTION: true,
	unix.SYS_RT_SIGPROCMASK: true, unix.SYS_SIGALTSTACK: true, unix.SYS_GETRANDOM: true, unix.SYS_EPOLL_PWAIT: true,
	unix.SYS_EPOLL_CTL: true, unix.SYS_GETRUSAGE: true, unix.SYS_RESTART_SYSCALL: true, unix.SYS_SET_ROBUST_LIST: true,
	unix.SYS_RSEQ: true, unix.SYS_MMAP: true, unix.SYS_MPROTECT: true,
	unix.SYS_CLONE3: true, unix.SYS_PRCTL: true, unix.SYS_IOCTL: true, unix.SYS_FCNTL: true,
}

// passesHanded are the calls that do not end a process either that takes descriptors.
var passesHanded = map[uint64]bool{unix.SYS_RECVMSG: true, unix.SYS_SHUTDOWN: true, unix.SYS_OPENAT: true}

// special are calls that pass and end the process, or a thread, by what they do. Kernels of
// amd64 let the last two past every filter: they are the kernel's own way back from a probe,
// and have no effect anywhere else.
var special = map[uint64]bool{unix.SYS_EXIT: true, unix.SYS_EXIT_GROUP: true, unix.SYS_RT_SIGRETURN: true, 335: runtime.GOARCH == "amd64", 336: runtime.GOARCH == "amd64"}

// After the lock every system call ends the process, but for those that are listed here.
func TestEverySystemCall(t *testing.T) {
	program := locked(t)
	for _, handed := range []bool{false, true} {
		t.Run(map[bool]string{false: "bare", true: "handed"}[handed], func(t *testing.T) { everySystemCall(t, program, handed) })
	}
}

func everySystemCall(t *testing.T, program string, handed bool) {
	t.Helper()
	numbers := make(chan uint64) // handed over one by one
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for n := range numbers {
				got := try(t, program, handed, n)
				if killed := got == "bad system call"; killed == (passes[n] || handed && passesHanded[n]) {
					t.Errorf("system call %d: %s", n, got)
				}
			}
		})
	}
	for n := uint64(0); n <= newest; n++ {
		if !special[n] {
			numbers <- n
		}
	}
	for _, n := range []uint64{1 << 30, 1<<30 + unix.SYS_READ, 1<<32 - 1} { // another table of the same machine
		numbers <- n
	}
	close(numbers)
	group.Wait()
}

func TestWhatArgumentsDecide(t *testing.T) {
	program := locked(t)
	const sharing = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	const killed = "bad system call"
	errno := func(e syscall.Errno) string { return strconv.Itoa(int(e)) }
	for _, c := range []struct {
		what string
		call []uint64
		want string
	}{
		{"memory, of no kind", []uint64{unix.SYS_MMAP, 0, 4096, unix.PROT_READ | unix.PROT_WRITE}, errno(unix.EINVAL)},
		{"memory that can be executed", []uint64{unix.SYS_MMAP, 0, 4096, unix.PROT_READ | unix.PROT_EXEC}, killed},
		{"making memory executable", []uint64{unix.SYS_MPROTECT, 0, 4096, unix.PROT_EXEC}, killed},
		{"making memory writable", []uint64{unix.SYS_MPROTECT, 0, 0, unix.PROT_WRITE}, "0"},
		{"a process", []uint64{unix.SYS_CLONE, uint64(unix.SIGCHLD)}, killed},
		{"a process that shares memory", []uint64{unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_VFORK}, killed},
		{"a thread in a namespace of its own", []uint64{unix.SYS_CLONE, sharing | unix.CLONE_NEWNET}, killed},
		{"a user namespace", []uint64{unix.SYS_CLONE, sharing | unix.CLONE_NEWUSER}, killed},
		{"a signal to another process", []uint64{unix.SYS_TGKILL, 1, 1, 0}, killed},
		{"a control call", []uint64{unix.SYS_IOCTL, 1, unix.TIOCSTI}, errno(unix.ENOTTY)},
		{"a process by clone3", []uint64{unix.SYS_CLONE3, 0, 88}, errno(unix.ENOSYS)},
		{"being traced", []uint64{unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1}, errno(unix.EPERM)},
		{"another descriptor", []uint64{unix.SYS_FCNTL, 1, unix.F_DUPFD, 0}, errno(unix.EPERM)},
		{"opening by the newest call", []uint64{unix.SYS_OPENAT2, 0, 0, 0}, killed},
		{"the ring", []uint64{unix.SYS_IO_URING_SETUP, 8, 0, 0}, killed},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := try(t, program, false, c.call...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhatArgumentsDecideWhereDescriptorsAreHanded(t *testing.T) {
	program := locked(t)
	errno := func(e syscall.Errno) string { return strconv.Itoa(int(e)) }
	for _, c := range []struct {
		what string
		call []uint64
		want string
	}{
		{"the size of what is no terminal", []uint64{unix.SYS_IOCTL, 1, unix.TIOCGWINSZ, 0}, errno(unix.ENOTTY)},
		{"the size of nothing", []uint64{unix.SYS_IOCTL, 77, unix.TIOCGWINSZ, 0}, errno(unix.EBADF)},
		{"typing into a terminal", []uint64{unix.SYS_IOCTL, 77, unix.TIOCSTI, 0}, errno(unix.ENOTTY)},
		{"whether nothing blocks", []uint64{unix.SYS_FCNTL, 77, unix.F_GETFL}, errno(unix.EBADF)},
		{"a copy of a descriptor", []uint64{unix.SYS_FCNTL, 77, unix.F_DUPFD, 0}, errno(unix.EPERM)},
		{"a signal when something arrives", []uint64{unix.SYS_FCNTL, 77, unix.F_SETOWN, 1}, errno(unix.EPERM)},
		{"opening", []uint64{unix.SYS_OPENAT, 0, 0, 0}, errno(unix.EACCES)},
		{"handing on", []uint64{unix.SYS_SENDMSG, 77, 0, 0}, "bad system call"},
		{"connecting", []uint64{unix.SYS_CONNECT, 77, 0, 0}, "bad system call"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := try(t, program, true, c.call...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
