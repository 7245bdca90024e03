package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
)

// killedName is the command by which the tests start a program that is to be
// killed at one of its steps: "killed-at STEP PROGRAM ARGS...".
const killedName = "killed-at"

// watched are the system calls that a tool call consists of: what the audit and
// the messages are written with.
var watched = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_FSYNC: "fsync", syscall.SYS_FDATASYNC: "fdatasync",
	syscall.SYS_FSTAT: "fstat", syscall.SYS_NEWFSTATAT: "lstat",
}

// killedAt runs a program and, once it was told by SIGUSR1 to count, kills it
// with SIGKILL at the given step, such as "before fsync of audit.jsonl". Every
// watched system call is two steps: before it takes effect and after. The program
// needs to know nothing of this: it is traced.
func killedAt() {
	if err := traced(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, killedName+":", err)
		os.Exit(3)
	}
}

func traced(step string, argv []string) error {
	armed := &atomic.Bool{}
	arm := make(chan os.Signal, 1)
	signal.Notify(arm, syscall.SIGUSR1)
	go func() {
		<-arm
		armed.Store(true)
		fmt.Println("armed")
	}()
	runtime.LockOSThread() // a tracer is a thread
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return err
	}
	t := &tracer{pid: pid, step: step, armed: armed, inside: map[int]bool{}}
	return t.run()
}

// tracer follows all threads of a program from system call to system call.
type tracer struct {
	pid    int
	step   string // to kill at
	armed  *atomic.Bool
	inside map[int]bool // threads, and whether they are in a system call
	killed bool
}

const (
	traceOptions = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | 0x100000 // and PTRACE_O_EXITKILL
	syscallStop  = syscall.SIGTRAP | 0x80
)

func (t *tracer) run() error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, syscall.WALL, nil); err != nil {
		return err
	}
	if err := syscall.PtraceSetOptions(t.pid, traceOptions); err != nil {
		return err
	}
	t.inside[t.pid] = false
	if err := syscall.PtraceSyscall(t.pid, 0); err != nil {
		return err
	}
	for {
		thread, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if !status.Stopped() {
			if thread == t.pid {
				fmt.Printf("killed: %v\n", t.killed)
				return nil
			}
			delete(t.inside, thread)
			continue
		}
		// A thread that was killed meanwhile cannot be continued; its end comes next.
		if err := syscall.PtraceSyscall(thread, t.stopped(thread, status)); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
}

// stopped looks at a thread that stopped and returns the signal to pass on.
func (t *tracer) stopped(thread int, status syscall.WaitStatus) int {
	_, known := t.inside[thread]
	switch sig := status.StopSignal(); {
	case sig == syscallStop:
		t.inside[thread] = !t.inside[thread]
		t.count(thread, t.inside[thread])
		return 0
	case !known:
		t.inside[thread] = false // a new thread begins with a stop of its own
		return 0
	case status.TrapCause() > 0 || sig == syscall.SIGTRAP:
		return 0
	default:
		return int(sig)
	}
}

// count kills the program when the thread stands at the chosen step.
func (t *tracer) count(thread int, before bool) {
	if !t.armed.Load() || t.killed {
		return
	}
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(thread, &regs) != nil {
		return
	}
	name, ok := watched[regs.Orig_rax]
	if !ok {
		return
	}
	file := "a name"
	if name != "lstat" {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(regs.Rdi)))
		if err != nil {
			return
		}
		file, _, _ = strings.Cut(filepath.Base(target), ":") // pipes and sockets have numbers
	}
	when := map[bool]string{true: "before", false: "after"}[before]
	if t.step == fmt.Sprintf("%s %s of %s", when, name, file) {
		t.killed = true
		_ = syscall.Kill(t.pid, syscall.SIGKILL)
	}
}
