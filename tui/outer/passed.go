package outer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Passed is what a process must be told about a terminal that another process, the client, has
// passed to it. Signals and the environment stay with the client.
type Passed struct {
	// Getenv looks up a variable of the client's environment.
	Getenv func(name string) string
	// Resized receives a value when the window may have another size, Stopping when the client
	// is about to be stopped, and Continued when it has continued. All are lossy, with capacity 1.
	Resized, Stopping, Continued <-chan struct{}
	// Released tells the client that it may stop, because the terminal is as Open found it.
	Released func()
	// Present reports whether the client is in the foreground of its terminal. While it is
	// not, what is typed is meant for another program.
	Present func() bool
	// Failed is called with a panic and its stack. If it is nil, the panic ends the process.
	Failed func(p any, stack []byte)
	// Settings are what Saved.Settings returned before a former view, which has left its screen
	// to this view; empty if there was no such view. Moving reports whether this view leaves its
	// screen to the next view; nil means that it does not. If it does, Restore resets the modes
	// and leaves the screen, the line discipline and unread input as they are.
	Settings json.RawMessage
	Moving   func() bool
	// Run makes the client run a program in the foreground of the terminal.
	Run func(ctx context.Context, argv []string) error
}

// WithPassed makes Open take a terminal that a client has passed to this process. If this
// process dies, the client restores the terminal.
func WithPassed(p Passed) Option { return func(t *Terminal) { t.passed = &p } }

// Release gives the terminal back, as Open found it, until use returns. ctx bounds only the wait
// until the reader pauses.
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
		resume, err := p.pause(ctx)
		if err != nil {
			return errors.Join(err, t.takeBack(""))
		}
		defer resume()
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

// Settings returns the line discipline's settings in that state, for Passed.Settings.
func (s *Saved) Settings() (json.RawMessage, error) { return json.Marshal(s.termios) }

// Restore sets that state again. A process calls it when the process to which it passed its
// terminal has died.
func (s *Saved) Restore() error {
	_, err := s.out.WriteString(cancel + leave)
	if err = errors.Join(setTermios(int(s.in.Fd()), s.termios), err, dropInput(int(s.in.Fd()))); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	return nil
}
