package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// PTY is a program of this host on a pseudoterminal of its own. The program
// leads a session and process group, and never outlives Close.
type PTY struct {
	master *os.File
	conn   syscall.RawConn // of master
	cmd    *exec.Cmd
	done   chan struct{} // closed when the program was waited for
	code   int           // valid after done
	stop   func() bool   // releases the context
	close  func() error
}

// hangupGrace is how long a program may take to end after its terminal hung
// up, before it is killed.
const hangupGrace = 500 * time.Millisecond

// Start runs argv in dir with exactly the given environment, on a terminal of
// the given size. When ctx ends, the program is ended as Close does it.
func Start(ctx context.Context, argv, env []string, dir string, cols, rows int) (*PTY, error) {
	if len(argv) == 0 {
		return nil, errors.New("start program: no command given")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	// Ending the context closes the terminal first, so that the program can
	// leave by itself; CommandContext would kill it at once.
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // context.AfterFunc below watches ctx
	cmd.Env, cmd.Dir = env, dir
	if env == nil {
		cmd.Env = []string{}
	}
	master, err := pty.StartWithSize(cmd, winsize(cols, rows))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	if master, err = polled(master); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	conn, err := master.SyscallConn()
	if err != nil {
		_ = master.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &PTY{master: master, conn: conn, cmd: cmd, done: make(chan struct{})}
	p.close = sync.OnceValue(p.shutdown)
	go p.reap()
	p.stop = context.AfterFunc(ctx, func() { _ = p.close() })
	return p, nil
}

// polled is the same terminal as a file that waits in the runtime's poller. As
// package pty leaves it, a read holds a thread, and every byte of output pays
// for the thread's way back to a processor.
func polled(blocking *os.File) (*os.File, error) {
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate terminal: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("poll terminal: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), blocking.Name()), nil
}

func winsize(cols, rows int) *pty.Winsize {
	cols, rows = clampSize(cols, rows)
	return &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}
}

// reap waits for the program. It ends with it, and Close sees to that.
func (p *PTY) reap() {
	defer close(p.done)
	err := p.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		p.code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			p.code = 128 + int(status.Signal())
		}
	default:
		p.code = -1
	}
}

// Resize tells the program of a new size.
func (p *PTY) Resize(cols, rows int) error {
	// The connection holds the descriptor while it is used: Close may come at
	// any time, and the number would then be somebody else's.
	size := winsize(cols, rows)
	var failed error
	err := p.conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// Wait waits for the program's end and returns its exit code: 128 plus the
// number for a signal, as shells have it.
func (p *PTY) Wait() int {
	<-p.done
	return p.code
}

// Signal sends a signal to the program itself, not to its group.
func (p *PTY) Signal(s syscall.Signal) error {
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
		return p.cmd.Process.Signal(s)
	}
}

// Done is closed when the program has ended.
func (p *PTY) Done() <-chan struct{} { return p.done }

// Close hangs up, kills the program's group if that does not end it, and waits
// for it. Only the first call does something; all return its error.
func (p *PTY) Close() error {
	p.stop()
	return p.close()
}

func (p *PTY) shutdown() error {
	group := -p.cmd.Process.Pid
	// The group may be gone already, which is as good.
	_ = syscall.Kill(group, syscall.SIGHUP)
	_ = syscall.Kill(group, syscall.SIGCONT)
	timer := time.NewTimer(hangupGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	err := p.master.Close()
	<-p.done
	if err != nil {
		return fmt.Errorf("close terminal: %w", err)
	}
	return nil
}
