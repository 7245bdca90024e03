package outer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// ErrRestored is the error of writing to a terminal after Restore.
var ErrRestored = errors.New("the terminal has been restored")

// ErrLent is the error of writing to a terminal while another program has it.
var ErrLent = errors.New("the terminal is lent to another program")

// Terminal is the person's terminal while the multiplexer uses it. Its methods are safe
// for concurrent use.
type Terminal struct {
	in, out     *os.File
	fdIn, fdOut int
	saved       *unix.Termios // the settings that Open found
	passed      *Passed       // nil: it is this process's own terminal
	watchdog    *watchdog     // restores the terminal when this process cannot; nil if it is passed

	write    sync.Mutex         // held for one write
	quick    *nonblockingWriter // guarded by write
	rest     []byte             // of what TryWrite has begun to write; guarded by write
	restored atomic.Bool        // nothing may be written any more
	waits    atomic.Int64       // when the write began that waits for the terminal, in nanoseconds since 1970; 0: none waits
	lent     bool               // another program has it; guarded by write
	away     atomic.Bool        // the client is stopped, and its shell has the terminal

	resized chan struct{} // capacity 1, lossy: the size may have changed while the terminal was lent

	flow   *flow
	loan   sync.Mutex // held while another program has the terminal
	reader atomic.Pointer[pauser]

	modes    sync.Mutex // guards mouse and keyboard; locked before write
	mouse    keys.MouseMode
	keyboard uint8 // the kitty flags that are set

	once sync.Once // for Restore
	err  error     // of Restore
}

// Option changes the modes that Open sets.
type Option func(*Terminal)

// WithoutMouse makes Open not request mouse events, so that the person's terminal
// handles the mouse.
func WithoutMouse() Option { return func(t *Terminal) { t.mouse = keys.MouseOff } }

// baseKeyboard are the kitty keyboard flags that are always set. They change nothing for
// keys that type text, and distinguish keys that have the same legacy bytes.
const baseKeyboard = keys.KittyDisambiguate | keys.KittyAlternateKeys

// Open takes over the terminal that in and out are connected to. It sets raw mode, the
// alternate screen, no autowrap, bracketed paste, focus events, the mouse and the most
// detailed keyboard protocol that the terminal supports, and hides the cursor. It
// refuses files that are not terminals, and terminals that cannot place a cursor, with
// a *fault.Error. The caller must call Restore.
func Open(in, out *os.File, options ...Option) (*Terminal, error) {
	t := &Terminal{flow: newFlow(), resized: make(chan struct{}, 1), in: in, out: out, fdIn: int(in.Fd()), fdOut: int(out.Fd()), mouse: keys.MouseDrag, keyboard: baseKeyboard}
	for _, o := range options {
		o(t)
	}
	saved, err := check(in, out, t.Getenv)
	if err != nil {
		return nil, err
	}
	follows := t.passed != nil && len(t.passed.Settings) > 0
	if follows {
		if err := json.Unmarshal(t.passed.Settings, saved); err != nil {
			return nil, &fault.Error{Op: op, Err: fmt.Errorf("read the terminal's settings from before the last view: %w", err), Next: "attach again"}
		}
	}
	t.saved = saved
	if t.passed == nil {
		if t.watchdog, err = startWatchdog(in, out); err != nil {
			return nil, &fault.Error{Op: op, Err: err, Next: "install the programs sh and stty"}
		}
	}
	if err := setTermios(t.fdIn, raw(*saved)); err != nil {
		t.watchdog.kill()
		return nil, &fault.Error{Op: op, Err: fmt.Errorf("set raw mode: %w", err), Next: "bring the program to the foreground"}
	}
	t.quick = newNonblockingWriter(t.fdOut)
	t.flow.begin(time.Now())
	modes := enter(t.mouse, t.keyboard)
	if follows {
		modes = strings.ReplaceAll(strings.TrimPrefix(modes, saveTitle), alternate, "")
	}
	if err := t.writeWithin([]byte(modes), openLimit); err != nil {
		_ = t.Restore() // the error of the write is the cause
		return nil, &fault.Error{Op: op, Err: fmt.Errorf("write to it: %w", err), Next: "check that the terminal is still open"}
	}
	return t, nil
}

// openLimit is how long a terminal may take to accept what Open writes.
const openLimit = 5 * time.Second

// op is the operation in Open's errors.
const op = "open the terminal"

// Check returns the error with which Open would refuse these files, or nil. It changes
// nothing, so a program can call it before it does anything else.
func Check(in, out *os.File) error {
	_, err := check(in, out, os.Getenv)
	return err
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := getTermios(int(f.Fd()))
	return err == nil
}

// Device returns the name of a terminal's device; empty where the system does not provide it.
func Device(f *os.File) string { return device(int(f.Fd())) }

// DropInput discards what was typed into a terminal and not read yet, including an
// unfinished line.
func DropInput(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("drop what was typed: %w", err)
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = dropInput(int(fd)) }); err != nil || failed != nil {
		return fmt.Errorf("drop what was typed: %w", errors.Join(err, failed))
	}
	return nil
}

// check returns the line discipline's settings of in if both files are terminals that
// can place a cursor.
func check(in, out *os.File, getenv func(string) string) (*unix.Termios, error) {
	switch name := getenv("TERM"); name {
	case "":
		return nil, &fault.Error{Op: op, Err: errors.New("TERM is not set"), Next: "set TERM to the name of your terminal, for example: export TERM=xterm-256color"}
	case "dumb":
		return nil, &fault.Error{Op: op, Err: errors.New("TERM is dumb: it cannot place a cursor"), Next: "run in a terminal emulator, or set TERM to its name if it is one; 'ironcurtain-mux start', 'pending' and 'approve' print plain lines and work here"}
	}
	saved, err := getTermios(int(in.Fd()))
	if err != nil {
		return nil, &fault.Error{Op: op, Err: fmt.Errorf("standard input is not a terminal: %w", err), Next: "run it in a terminal, without redirecting its input"}
	}
	if _, err := getTermios(int(out.Fd())); err != nil {
		return nil, &fault.Error{Op: op, Err: fmt.Errorf("standard output is not a terminal: %w", err), Next: "run it in a terminal, without redirecting its output"}
	}
	return saved, nil
}

// Await waits while too much of the earlier frames is still on its way to a remote
// terminal. Call it before drawing the next frame, so that this frame includes what
// happens meanwhile.
func (t *Terminal) Await() { t.flow.await() }

// mostWaiting is the size in bytes of the largest write that waits for the terminal.
const mostWaiting = 16 << 10

// stuckWrite is how long Restore waits for a write under way. Restore must not hang when
// the terminal takes no output, because of Ctrl-S or a dead connection.
const stuckWrite = 250 * time.Millisecond

// leaveLimit is how long a terminal may then take to accept the sequences that reset it.
const leaveLimit = time.Second

// Restore gives the terminal back as Open found it: modes, screen, cursor and line
// discipline. It drops unread input, so that the shell does not read pending answers as
// typed input. Only the first call has an effect; the others wait for it and return its
// error. It may be called at any time from any goroutine, also while a Write hangs. If
// the terminal is lent, it waits up to loanEnd for the program to end; the context of
// Run must have ended by then.
func (t *Terminal) Restore() error {
	t.once.Do(func() {
		t.restored.Store(true)
		t.flow.end()
		if tryLock(&t.loan, loanEnd, nil) {
			defer t.loan.Unlock()
		}
		if t.away.Load() { // the terminal has been given back already
			t.write.Lock()
			defer t.write.Unlock()
			t.err = t.quick.close()
			return
		}
		if t.passed != nil && t.passed.Moving != nil && t.passed.Moving() {
			// What was typed and not read yet is for the view that follows.
			t.err = t.leave(leaveModes)
			return
		}
		t.flow.drain(t.fdIn)
		t.err = errors.Join(setTermios(t.fdIn, t.saved), t.leave(leave), dropInput(t.fdIn), t.watchdog.stop())
	})
	if t.err != nil {
		return fmt.Errorf("restore the terminal: %w", t.err)
	}
	return nil
}

// leave writes the sequences that reset modes. If a write hangs, leave drops the
// terminal's unsent output to free it. That write may then have stopped within a
// sequence, so leave cancels the sequence first.
func (t *Terminal) leave(text string) error {
	drop := func() { _ = errors.Join(dropOutput(t.fdOut), startOutput(t.fdOut)) }
	reset := text
	if !tryLock(&t.write, stuckWrite, nil) {
		text = cancel + reset
		if !tryLock(&t.write, stuckWrite, drop) {
			return errors.New("a write to the terminal hangs")
		}
	}
	defer t.write.Unlock()
	if len(t.rest) > 0 {
		text, t.rest = cancel+reset, nil
	}
	if !writable(t.fdOut, stuckWrite) {
		drop()
	}
	return errors.Join(t.writeWithin([]byte(text), leaveLimit), t.quick.close())
}

// Ready reports whether the terminal is likely to take a small frame without blocking. A
// terminal that is stopped or behind with its output does not.
func (t *Terminal) Ready() bool {
	return t.flow.open() && ready([]unix.PollFd{{Fd: int32(t.fdOut), Events: unix.POLLOUT}}) > 0
}

// Restored reports whether Restore was called.
func (t *Terminal) Restored() bool { return t.restored.Load() }

// Guard restores the terminal when its goroutine panics, so that the message can be
// read, and continues the panic. It must be deferred directly: defer t.Guard().
func (t *Terminal) Guard() {
	if v := recover(); v != nil {
		_ = t.Restore() // the panic is the cause to report
		panic(v)
	}
}

// guard is Guard for the goroutines of this package. If the terminal was passed, it gives the panic
// to Failed and does not continue it.
func (t *Terminal) guard() {
	if v := recover(); v != nil {
		stack := debug.Stack()
		_ = t.Restore() // the panic is the cause to report
		if t.passed == nil || t.passed.Failed == nil {
			panic(v)
		}
		t.passed.Failed(v, stack)
	}
}

// tryLock locks m, or returns false after d. Until then it calls retry before each
// attempt, if retry is not nil.
func tryLock(m *sync.Mutex, d time.Duration, retry func()) bool {
	if m.TryLock() {
		return true
	}
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if retry != nil {
				retry()
			}
			if m.TryLock() {
				return true
			}
		case <-deadline.C:
			return false
		}
	}
}
