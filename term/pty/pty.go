// Package pty runs a program of this host on a pseudoterminal of its own: a shell in a
// tab, or a program under test. Read returns what the program prints, Write types into it,
// Resize changes the terminal's size, and Close ends the program with everything it started.
package pty

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Program is a program of this host on its own pseudoterminal. The program is the leader of
// a session and process group, and Close always ends it.
type Program struct {
	master *os.File
	conn   syscall.RawConn // of master
	cmd    *exec.Cmd
	device uint64        // of the program's terminal
	done   chan struct{} // closed when the program was waited for
	code   int           // valid after done
	stop   func() bool   // releases the context
	close  func() error
}

// hangupGrace is how long a program may take to end after SIGHUP, before it is killed.
const hangupGrace = 500 * time.Millisecond

// Start runs argv in dir with exactly the given environment, on a terminal of the given
// size. When ctx ends, the program is ended as by Close.
func Start(ctx context.Context, argv, env []string, dir string, cols, rows int) (*Program, error) {
	return start(ctx, argv, env, dir, cols, rows, false)
}

// StartRaw is Start on a terminal that is in raw mode from the beginning, so that keys typed
// before the program reads them reach it unchanged. The program inherits files, from descriptor 3
// on.
func StartRaw(ctx context.Context, argv, env []string, dir string, cols, rows int, files ...*os.File) (*Program, error) {
	return start(ctx, argv, env, dir, cols, rows, true, files...)
}

func start(ctx context.Context, argv, env []string, dir string, cols, rows int, raw bool, files ...*os.File) (*Program, error) {
	if len(argv) == 0 {
		return nil, errors.New("start program: no command given")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	// When ctx ends, the program first gets SIGHUP, so that it can exit by itself.
	// CommandContext would kill it at once.
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // context.AfterFunc below watches ctx
	cmd.Env, cmd.Dir, cmd.ExtraFiles = env, dir, files
	if env == nil {
		cmd.Env = []string{}
	}
	master, device, err := startOn(cmd, winsize(cols, rows), raw)
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
	p := &Program{master: master, conn: conn, cmd: cmd, device: device, done: make(chan struct{})}
	own.Store(device, true)
	p.close = sync.OnceValue(p.shutdown)
	go p.reap()
	p.stop = context.AfterFunc(ctx, func() { _ = p.close() })
	return p, nil
}

// own maps the device of each running program's terminal (uint64) to true.
var own sync.Map

// Own reports whether f is the terminal of a running program that this process has started with
// Start or StartRaw.
func Own(f *os.File) bool {
	device, err := deviceOf(f)
	_, is := own.Load(device)
	return err == nil && is
}

// startOn starts a program on a new terminal.
func startOn(cmd *exec.Cmd, size *creack.Winsize, raw bool) (master *os.File, device uint64, err error) {
	master, tty, err := creack.Open()
	if err != nil {
		return nil, 0, err
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = creack.Setsize(master, size)
	if err == nil {
		device, err = deviceOf(tty)
	}
	if err == nil && raw {
		_, err = term.MakeRaw(int(tty.Fd()))
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, 0, errors.Join(err, master.Close())
	}
	return master, device, nil
}

// polled returns the same terminal as a file that waits in the runtime's poller. The
// file of package pty blocks a thread in each read, and waking that thread would delay
// every byte of output.
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

func winsize(cols, rows int) *creack.Winsize {
	size := func(n int) uint16 { return uint16(max(1, min(n, math.MaxUint16))) }
	return &creack.Winsize{Cols: size(cols), Rows: size(rows)}
}

// reap waits for the program and records its exit code. It returns at the latest after
// Close, which ends the program.
func (p *Program) reap() {
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

// Resize sets the size of the program's terminal.
func (p *Program) Resize(cols, rows int) error {
	// Control keeps the descriptor open during the call. Otherwise a concurrent Close
	// could free its number for another file.
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

// Wait waits for the program's end and returns its exit code. For a signal that is 128
// plus the signal's number, as in shells.
func (p *Program) Wait() int {
	<-p.done
	return p.code
}

// Signal sends a signal to the program itself, not to its group.
func (p *Program) Signal(s syscall.Signal) error {
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
		return p.cmd.Process.Signal(s)
	}
}

// Done is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// Close sends SIGHUP, kills the program's group if that does not end it, and waits for
// it. Only the first call has an effect; all calls return its error.
func (p *Program) Close() error {
	p.stop()
	return p.close()
}

func (p *Program) shutdown() error {
	group := -p.cmd.Process.Pid
	// The group may have ended already, so errors are ignored.
	_ = syscall.Kill(group, syscall.SIGHUP)
	_ = syscall.Kill(group, syscall.SIGCONT)
	timer := time.NewTimer(hangupGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	own.Delete(p.device) // before another program can get the same one
	err := p.master.Close()
	<-p.done
	if err != nil {
		return fmt.Errorf("close terminal: %w", err)
	}
	return nil
}
