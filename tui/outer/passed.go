package outer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Passed says what a process cannot see of a terminal that another process, the client, has
// passed to it, because signals and the environment stay with the client.
type Passed struct {
	// Getenv looks up a variable of the client's environment.
	Getenv func(name string) string
	// Resized has a value when the window may have another size, Stopping when the client is
	// to be stopped, and Continued when it has gone on. Each holds one value, and is lossy.
	Resized, Stopping, Continued <-chan struct{}
	// Released is called when the client may stop: the terminal is as Open found it.
	Released func()
	// Present reports whether the client is in the foreground of its terminal. While it is
	// not, what is typed is meant for another program.
	Present func() bool
	// Failed is told of a panic; nil: it ends the process.
	Failed func(p any, stack []byte)
	// Settings are what Saved.Settings has returned before a former view, which has left its
	// screen for this one; empty: there was none. Moving reports whether this one is to leave its
	// own for the next; nil: it is not. Then Restore resets the modes and leaves the screen, the
	// line discipline and what was typed as they are.
	Settings json.RawMessage
	Moving   func() bool
	// Run makes the client run a program in the foreground of the terminal.
	Run func(ctx context.Context, argv []string) error
}

// WithPassed makes Open take a terminal that a client has passed to this process. If this
// process dies, the client restores the terminal.
func WithPassed(p Passed) Option { return func(t *Terminal) { t.passed = &p } }

// Release gives the terminal back, as Open found it, until use returns. The context ends a
// wait for the reader only.
func (t *Terminal) Release(ctx context.Context, use func() error) error {
	t.loan.Lock()
	defer t.loan.Unlock()
	if t.restored.Load() {
		return ErrRestored
	}
	t.write.Lock()
	t.lent = true
	t.write.Unlock()
	t.flow.awaitAnswers() // so that the other program does not read them as typed input
	if p := t.reader.Load(); p != nil {
		release, err := p.hold(ctx)
		if err != nil {
			return errors.Join(err, t.takeBack(""))
		}
		defer release()
	}
	if err := t.giveAway(); err != nil {
		return errors.Join(err, t.takeBack(""))
	}
	return errors.Join(use(), t.takeBack(""))
}

// Getenv looks up a variable of the environment that the terminal belongs to.
func (t *Terminal) Getenv(name string) string {
	if t.passed != nil {
		return t.passed.Getenv(name)
	}
	return os.Getenv(name)
}

// Saved is the state of a terminal before it was passed to another process.
type Saved struct {
	in, out *os.File
	termios *unix.Termios
}

// Save remembers the state of a terminal. It refuses what Open would refuse.
func Save(in, out *os.File) (*Saved, error) {
	termios, err := check(in, out, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &Saved{in, out, termios}, nil
}

// Settings are those of the line discipline in that state, for Passed.Settings.
func (s *Saved) Settings() (json.RawMessage, error) { return json.Marshal(s.termios) }

// Restore sets that state again. It is for a process whose terminal was passed to one that
// has died.
func (s *Saved) Restore() error {
	_, err := s.out.WriteString(cancel + leave)
	if err = errors.Join(setTermios(int(s.in.Fd()), s.termios), err, dropInput(int(s.in.Fd()))); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	return nil
}
