package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"

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
	saved, err := check(in, out)
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

// Listen is Terminal.Listen. When this process continues after it was stopped, it sets the
// modes again and calls again.
func (l *Lines) Listen(ctx context.Context, deliver func([]keys.Event), again func()) error {
	ctx, cancel := context.WithCancel(ctx)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-continued:
				if l.set() == nil { // Listen notices when the terminal is closed
					again()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	defer watching.Wait()
	defer cancel()
	defer signal.Stop(continued)
	return listenTo(ctx, int(l.in.Fd()), l.flow, &l.reader, deliver)
}

// Cols returns the width of the terminal.
func (l *Lines) Cols() int { return sizeOf(int(l.out.Fd())).Cols }

// Close gives the terminal back as OpenLines found it. Only the first call has an effect;
// the others return its error.
func (l *Lines) Close() error {
	l.once.Do(func() {
		l.flow.end()
		_, err := l.out.WriteString(unmarkPastes)
		l.err = errors.Join(setTermios(int(l.in.Fd()), l.saved), err)
	})
	if l.err != nil {
		return fmt.Errorf("restore the terminal: %w", l.err)
	}
	return nil
}
