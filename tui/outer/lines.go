package outer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Lines reads lines from a terminal that a client has passed, without taking over the screen.
// Keys and pastes arrive as events, because plain input does not show what was pasted. Ctrl-Z
// and output work as usual, and so does Ctrl-C unless it arrives as a key.
type Lines struct {
	in     *os.File
	out    io.Writer // the same terminal
	cols   func() int
	passed Passed
	saved  *unix.Termios // the settings that OpenLines found
	ctrlC  bool          // Ctrl-C is a key
	flow   *flow
	reader atomic.Pointer[pauser]
	isAway atomic.Bool // the client's shell has the terminal

	once sync.Once // for Close
	err  error     // of Close
}

// The sequences that set and reset bracketed paste.
const (
	markPastes   = "\x1b[?2004h"
	unmarkPastes = "\x1b[?2004l"
)

// OpenLines makes the terminal that in and out are connected to deliver single keys and
// marked pastes. It drops what was typed before, because that may have been pasted. It refuses
// the same files as Open, and a client in the background. With ctrlC, Ctrl-C arrives as a key
// and sends no signal. The caller must call Close.
func OpenLines(in, out *Stream, p Passed, ctrlC bool) (*Lines, error) {
	saved, err := check(in.file, out.file, p.Getenv)
	if err != nil {
		return nil, err
	}
	if !p.Present() {
		return nil, &fault.Error{Op: op, Err: errors.New("the program is in the background"), Next: "bring the program to the foreground"}
	}
	l := &Lines{in: in.file, out: out, passed: p, saved: saved, ctrlC: ctrlC, flow: newFlow()}
	l.cols = func() int { return sizeOf(int(out.file.Fd())).Cols }
	if err := errors.Join(l.set(), dropInput(int(in.file.Fd()))); err != nil {
		return nil, errors.Join(&fault.Error{Op: op, Err: fmt.Errorf("read single keys: %w", err), Next: "bring the program to the foreground"}, l.Close())
	}
	return l, nil
}

// set sets the modes, first in OpenLines and again when the client continues, because the shell may
// have set others while the client was stopped.
func (l *Lines) set() error {
	settings := singleKeys(*l.saved)
	if l.ctrlC {
		settings.Cc[unix.VINTR] = noCharacter
	}
	if err := setTermios(int(l.in.Fd()), settings); err != nil {
		return err
	}
	_, err := io.WriteString(l.out, markPastes)
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

// Listen is Terminal.Listen. While the client is stopped by Ctrl-Z, the terminal is as
// OpenLines found it, because not every shell sets its own modes. Listen calls leave before it
// restores that state, and back afterwards; in between, the caller must not write to the terminal.
func (l *Lines) Listen(ctx context.Context, deliver func([]keys.Event), leave, back func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-l.passed.Stopping:
				l.lendToShell(ctx, leave, back)
			case <-l.passed.Continued:
				if awaitForeground(ctx, l.passed) && l.set() == nil { // Listen notices when the terminal is closed
					leave()
					back()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	defer watching.Wait()
	defer cancel()
	r := reader{in: int(l.in.Fd()), flow: l.flow, read: unix.Read, present: l.passed.Present}
	if again, err := openAgain(r.in, unix.O_RDONLY); err == nil {
		defer unix.Close(again)
		r.in = again
	}
	return r.listen(ctx, &l.reader, deliver)
}

// lendToShell gives the terminal to the client's shell until the client continues.
func (l *Lines) lendToShell(ctx context.Context, leave, back func()) {
	if p := l.reader.Load(); p != nil {
		resume, err := p.pause(ctx) // before leave, because a key that is delivered may wait for back
		if err != nil {
			return
		}
		defer resume()
	}
	leave()
	defer back()
	_ = l.unset() // after an error the client stops all the same, as the person wants
	l.isAway.Store(true)
	l.passed.Released()
	select {
	case <-l.passed.Continued:
	case <-ctx.Done():
		return
	}
	if awaitForeground(ctx, l.passed) {
		l.isAway.Store(false)
		_ = l.set() // Listen notices when the terminal is closed
	}
}

// unset sets the modes that OpenLines found.
func (l *Lines) unset() error {
	_, err := io.WriteString(l.out, unmarkPastes)
	return errors.Join(setTermios(int(l.in.Fd()), l.saved), err)
}

// Cols returns the width of the terminal.
func (l *Lines) Cols() int { return l.cols() }

// Close gives the terminal back as OpenLines found it, unless the client's shell has it. Only
// the first call has an effect; the others return its error.
func (l *Lines) Close() error {
	l.once.Do(func() {
		l.flow.end()
		if !l.isAway.Load() {
			l.err = l.unset()
		}
	})
	if l.err != nil {
		return fmt.Errorf("restore the terminal: %w", l.err)
	}
	return nil
}
