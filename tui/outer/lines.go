package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Lines is the person's terminal while a program reads lines there and does not take the
// screen. Keys and pastes arrive as events, because only so can a paste be told from typing.
// Ctrl-C, Ctrl-Z and output work as usual.
type Lines struct {
	in, out *os.File
	saved   *unix.Termios // the settings that OpenLines found
	flow    *flow
	reader  atomic.Pointer[pauser]

	once sync.Once // for Close
	err  error     // of Close
}

// The sequences that make a terminal mark pastes, and that end this.
const (
	markPastes   = "\x1b[?2004h"
	unmarkPastes = "\x1b[?2004l"
)

// OpenLines makes the terminal that in and out are connected to deliver single keys and
// marked pastes. What was typed before is dropped: nobody can say whether it was pasted. It
// refuses the same files as Open. The caller must call Close.
func OpenLines(in, out *os.File) (*Lines, error) {
	saved, err := check(in, out, os.Getenv)
	if err != nil {
		return nil, err
	}
	l := &Lines{in: in, out: out, saved: saved, flow: newFlow()}
	if err := errors.Join(l.set(), dropInput(int(in.Fd()))); err != nil {
		return nil, errors.Join(&fault.Error{Op: op, Err: fmt.Errorf("read single keys: %w", err), Next: "bring the program to the foreground"}, l.Close())
	}
	return l, nil
}

// set sets the modes. A shell has its own while this process is stopped.
func (l *Lines) set() error {
	if err := setTermios(int(l.in.Fd()), singleKeys(*l.saved)); err != nil {
		return err
	}
	_, err := l.out.WriteString(markPastes)
	return err
}

// singleKeys returns t changed so that every key is read at once and nothing is echoed.
// Keys that send signals and the treatment of output stay.
func singleKeys(t unix.Termios) *unix.Termios {
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN
	t.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return &t
}

// Listen is Terminal.Listen. While this process is stopped by Ctrl-Z, the terminal is as
// OpenLines found it, because not every shell sets its own modes. When the process continues,
// Listen sets the modes again and calls again.
func (l *Lines) Listen(ctx context.Context, deliver func([]keys.Event), again func()) error {
	ctx, cancel := context.WithCancel(ctx)
	continued, stopped := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	signal.Notify(stopped, unix.SIGTSTP)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stopped:
				_ = l.unset() // the person wants to leave in any case
				stop(ctx, continued)
			case <-continued:
			case <-ctx.Done():
				return
			}
			if l.set() == nil { // Listen notices when the terminal is closed
				again()
			}
		}
	})
	defer watching.Wait()
	defer cancel()
	defer signal.Stop(continued)
	defer signal.Stop(stopped)
	r := reader{in: int(l.in.Fd()), flow: l.flow, read: readReady}
	return r.listen(ctx, &l.reader, deliver)
}

// stopTime is how long the process may take to stop.
const stopTime = 100 * time.Millisecond

// stop stops this process, as Ctrl-Z would have done, and returns when it continues. A process
// in the group of its session's first program has no shell that could continue it, and is not
// stopped.
func stop(ctx context.Context, continued <-chan os.Signal) {
	if session, err := unix.Getsid(0); err != nil || session == unix.Getpgrp() {
		return
	}
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP) // it is our own process
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case <-continued:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// unset sets the modes that OpenLines found.
func (l *Lines) unset() error {
	_, err := l.out.WriteString(unmarkPastes)
	return errors.Join(setTermios(int(l.in.Fd()), l.saved), err)
}

// Cols returns the width of the terminal.
func (l *Lines) Cols() int { return sizeOf(int(l.out.Fd())).Cols }

// Close gives the terminal back as OpenLines found it. Only the first call has an effect;
// the others return its error.
func (l *Lines) Close() error {
	l.once.Do(func() {
		l.flow.end()
		l.err = l.unset()
	})
	if l.err != nil {
		return fmt.Errorf("restore the terminal: %w", l.err)
	}
	return nil
}
