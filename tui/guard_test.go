package tui

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// trap is a broker and a client's terminal that panic where a test says.
type trap struct {
	*fakeBroker
	where    string
	set      atomic.Bool
	stopping chan struct{}
}

func (x *trap) spring(where string) {
	if x.where == where && x.set.Load() {
		panic("in " + where)
	}
}

func (x *trap) Sessions(ctx context.Context) ([]broker.Session, error) {
	if x.where == "lists" {
		panic("in lists")
	}
	return x.fakeBroker.Sessions(ctx)
}

func (x *trap) History(ctx context.Context, limit int) ([]broker.Decided, error) {
	x.spring("a request")
	return x.fakeBroker.History(ctx, limit)
}

// options are those of a view with the trap.
func (x *trap) options(mux *pane.Mux, failed chan<- string) Options {
	x.stopping = make(chan struct{}, 1)
	return Options{
		Mux: mux, Detach: true, Notify: "desktop",
		Failed: func(p any, _ []byte) { failed <- fmt.Sprint(p) },
		Front:  func(broker.SessionID) { x.spring("the event loop") },
		Used:   func() { x.spring("the reader") },
		Passed: &outer.Passed{
			Getenv: func(name string) string {
				if name == "VTE_VERSION" {
					x.spring("requests to the terminal")
				}
				return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}[name]
			},
			Stopping: x.stopping,
			Present:  func() bool { return true },
			Released: func() { x.spring("signals") },
		},
	}
}

// A panic in any goroutine of a view ends that view, whose terminal is restored. The agent and
// another view are undisturbed.
func TestAPanicEndsOneViewOnly(t *testing.T) {
	for where, spring := range map[string]func(p *userTerminal, x *trap){
		"the event loop": func(p *userTerminal, _ *trap) { p.types("\x01/next\r") },
		"the reader":     func(p *userTerminal, _ *trap) { p.types("x") },
		"a request":      func(p *userTerminal, _ *trap) { p.types("\x01/history\r") },
		"signals":        func(_ *userTerminal, x *trap) { x.stopping <- struct{}{} },
		"requests to the terminal": func(p *userTerminal, _ *trap) {
			_, _ = fmt.Fprint(p.broker.terminal("s1").agentW, "\x1b]9;look\x07\a")
		},
		"lists": func(*userTerminal, *trap) {},
	} {
		t.Run(where, func(t *testing.T) {
			b := newFakeBroker()
			b.agent = echoAgent
			tasks := new(pane.Tasks)
			mux := pane.NewMux(t.Context(), tasks, term.Options{Scrollback: 100})
			defer tasks.Wait(patience)
			defer mux.Close()
			well := &trap{fakeBroker: b}
			other := startMuxWith(t, b, well, 80, 24, well.options(mux, make(chan string, 10)))
			other.sees("ready")
			x, failed := &trap{fakeBroker: b, where: where}, make(chan string, 10)
			p := startMuxWith(t, b, x, 80, 24, x.options(mux, failed))
			if where != "lists" {
				p.sees("ready")
			}
			x.set.Store(true)
			spring(p, x)
			if err := <-p.done; !errors.Is(err, ErrFailed) {
				t.Errorf("the view ends with %v", err)
			}
			if got := <-failed; got != "in "+where {
				t.Errorf("told of %q", got)
			}
			p.until("the restored terminal", func() bool { return !p.screen.Modes().AltScreen && !p.screen.Modes().BracketedPaste })
			other.types("hello\r")
			other.sees(`hello"`)
			other.types("\x01/detach\r")
			if err := <-other.done; !errors.Is(err, ErrDetached) {
				t.Errorf("the other view ends with %v", err)
			}
		})
	}
}
