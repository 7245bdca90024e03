package bridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxTyped is how many bytes are buffered for a program that does not read them. No more are read
// from the host.
const maxTyped = 256 << 10

// terminal is a program on its own terminal.
type terminal struct {
	master *os.File // non-blocking: deadlines and Close end its reads and writes
	tty    *os.File // kept open, so that reads do not fail if the program closes it
	cmd    *exec.Cmd
}

// startTerminal starts a program on a new terminal of this size.
func startTerminal(argv, env []string, cols, rows int) (_ *terminal, err error) {
	master, tty, err := openTerminal()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &terminal{master: master, tty: tty, cmd: exec.Command(argv[0], argv[1:]...)} //nolint:noctx // it is ended by a signal
	t.cmd.Env = env
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = tty, tty, tty
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err = t.resize(cols, rows); err == nil {
		err = t.cmd.Start()
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// control calls f with the descriptor of the terminal.
func (t *terminal) control(f func(fd int) error) error {
	conn, err := t.master.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}

func (t *terminal) resize(cols, rows int) error {
	return t.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
}

// wait waits for the program's end and returns its exit code: 128 and the signal's number if a
// signal has ended it.
func (t *terminal) wait() (code int) {
	_ = t.cmd.Wait() // ProcessState has the result
	state, ok := t.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return 128 + int(state.Signal())
	}
	return t.cmd.ProcessState.ExitCode()
}

// rest returns the output that is still unread after the program has ended, without waiting for more.
// Other programs may go on writing; it returns at most about maxTyped bytes.
func (t *terminal) rest() (all []byte) {
	_ = t.control(func(fd int) error {
		for buf := make([]byte, 32<<10); len(all) < maxTyped; {
			n, err := unix.Read(fd, buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || n <= 0 {
				return err
			}
			all = append(all, buf[:n]...)
		}
		return nil
	})
	return all
}

func (t *terminal) close() { _, _ = t.master.Close(), t.tty.Close() }

// keys buffers what was typed until the program reads it.
type keys struct {
	mu      sync.Mutex
	changed sync.Cond
	typed   []byte
	closed  bool
}

func newKeys() *keys {
	k := &keys{}
	k.changed.L = &k.mu
	return k
}

// put buffers bytes for the program. It waits while the buffer is full, until gone is closed.
func (k *keys) put(p []byte, gone <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.typed)+len(p) > maxTyped && !k.closed && !isClosed(gone) {
		k.changed.Wait()
	}
	if !k.closed && !isClosed(gone) {
		k.typed = append(k.typed, p...)
		k.changed.Broadcast()
	}
}

// wake makes put check its channel.
func (k *keys) wake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changed.Broadcast()
}

// close drops the buffer, and ends put and typeInto.
func (k *keys) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.changed.Broadcast()
}

// typeInto writes the keys to a terminal until it is closed.
func (k *keys) typeInto(t *terminal) {
	for {
		k.mu.Lock()
		for len(k.typed) == 0 && !k.closed {
			k.changed.Wait()
		}
		typed, closed := k.typed, k.closed
		k.typed = nil
		k.changed.Broadcast()
		k.mu.Unlock()
		if closed {
			return
		}
		if _, err := t.master.Write(typed); err != nil {
			return
		}
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
