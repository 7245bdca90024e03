package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// ErrDetached is returned by Run when the person left with everything running.
var ErrDetached = errors.New("detached")

// ErrFailed is returned by Run when the view has failed.
var ErrFailed = errors.New("the view has failed; the log says why")

// ErrTerminalLost is returned by Run when the person's terminal was closed.
var ErrTerminalLost = errors.New("the terminal is gone")

// Run shows the multiplexer on the person's terminal until the person leaves, ctx ends (which is no
// error) or the terminal is lost. It does not end the sessions; its caller does. It restores the
// terminal in every case.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return err
	}
	outside := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if tell := o.Failed; tell != nil {
		o.Failed = func(p any, stack []byte) {
			tell(p, stack)
			cancel(ErrFailed)
		}
	}
	var options []outer.Option
	if o.NoMouse {
		options = append(options, outer.WithoutMouse())
	}
	if o.Passed != nil {
		o.Getenv = o.Passed.Getenv
		passed := *o.Passed
		passed.Failed = o.Failed
		options = append(options, outer.WithPassed(passed))
	}
	t, err := outer.Open(o.In, o.Out, options...)
	if err != nil {
		return err
	}
	err = run(ctx, outside, cancel, o, t)
	return errors.Join(err, t.Restore())
}

// run shows the multiplexer until cancel is called, outside ends, or the person leaves.
func run(ctx, outside context.Context, cancel context.CancelCauseFunc, o Options, t *outer.Terminal) error {
	defer t.Guard()
	tasks := &pane.Tasks{Restore: func() { _ = t.Restore() }, Failed: o.Failed}

	var program *tea.Program
	send := func(msg tea.Msg) { program.Send(msg) }
	profile := paint.DetectProfile(o.Getenv)
	o.Theme, o.FollowTheme = themeFor(profile, o.Theme)
	ownMux := o.Mux == nil
	if ownMux {
		o.Mux = pane.NewMux(ctx, tasks, term.Options{Engine: o.Engine, Scrollback: o.Scrollback})
	}
	box := newMailbox()
	screen := view.NewCompositor(t, profile, !o.NoMouse, o.Mux.Priority.EchoPainted, func(seq uint64, at time.Time) { box.put(paintedMsg{seq, at}) })
	m, err := newModel(ctx, o, screen, tasks)
	if err != nil {
		return err
	}
	m.send, m.post = send, box.put
	program = newProgram(ctx, m)
	tasks.Start(func() { box.forward(ctx, send) })

	events, err := o.API.Subscribe(ctx)
	if err != nil {
		return fmt.Errorf("listen to the broker: %w", err)
	}
	stop := func(err error) {
		// After a panic has restored the terminal, errors are consequences of the panic, and must
		// not end the program before it does.
		if err != nil && !t.Restored() {
			cancel(err)
		}
	}
	startLoops(ctx, m, t, screen, events, stop)

	defer m.leave()
	tasks.Run(func() {
		defer program.Kill() // after a panic in the event loop, its ticker would still run
		_, err = program.Run()
	})
	cause := context.Cause(ctx)
	cancel(nil)
	// Restores the terminal first, because ending the goroutines may take a moment.
	_ = t.Restore()
	if o.Left != nil && len(m.tabs) > 0 && !errors.Is(cause, ErrFailed) {
		o.Left(m.arrangement())
	}
	m.leave()
	if ownMux {
		o.Mux.Close()
	}
	waited := tasks.Wait(shutdownTimeout)
	if !waited && !errors.Is(cause, ErrFailed) {
		return fmt.Errorf("end the multiplexer: the broker has not answered a request within %v", shutdownTimeout)
	}
	return m.ending(cause, outside.Err() != nil, err)
}

// ending returns why the view ended: the cause, if there is one, or the error of the event loop. It
// returns nil when the person or the process has ended the view.
func (m *Model) ending(cause error, outside bool, err error) error {
	switch {
	case errors.Is(cause, ErrFailed):
		return cause
	case m.detached:
		return ErrDetached
	case outside || m.quitting:
		return nil
	case cause != nil:
		return cause
	}
	return err
}

// leave ends the views of the panes. It does nothing the second time.
func (m *Model) leave() {
	for _, x := range m.tabs {
		x.pane.Leave()
	}
	m.tabs = nil
}

// startLoops starts the goroutines that run beside the event loop. They paint, repaint
// after the program was stopped, follow the broker and the size of the terminal, and read
// the keyboard. An error that ends the program is given to stop.
func startLoops(ctx context.Context, m *Model, t *outer.Terminal, screen *view.Compositor, events <-chan broker.Event, stop func(error)) {
	m.tasks.Start(func() { stop(screen.Run(ctx)) })
	m.tasks.Start(func() { screen.Serve(ctx) })
	m.tasks.Start(func() {
		stop(followOutput(ctx, t.Behind, func(stalled bool) {
			m.o.Stalled(stalled)
			m.send(stalledMsg{stalled})
		}))
	})
	m.tasks.Start(func() {
		for range t.Continues(ctx) {
			screen.Repaint()
			m.send(continuedMsg{})
		}
	})
	m.tasks.Start(func() { followBroker(ctx, m.api, events, m.send) })
	m.tasks.Start(func() {
		if err := list(ctx, m.api, m.send); err != nil {
			m.send(brokerLostMsg{fmt.Errorf("list the sessions and calls: %w", err)})
		}
		followSize(ctx, t, m.send)
	})
	m.tasks.Start(func() {
		in := intake{model: m, send: m.send, await: m.gate.Wait}
		err := t.Listen(ctx, func(batch []keys.Event) { in.take(ctx, batch) })
		stop(cmp.Or(err, ErrTerminalLost))
	})
}

// newProgram returns a Bubble Tea program that only runs its event loop. Other code handles
// the terminal, signals and panics.
func newProgram(ctx context.Context, m *Model) *tea.Program {
	return tea.NewProgram(m,
		tea.WithContext(ctx),
		tea.WithInput(nil),
		tea.WithoutRenderer(),
		// The ticker for frames runs even without a renderer; this is its lowest rate.
		tea.WithFPS(1),
		tea.WithoutSignalHandler(),
		tea.WithoutCatchPanics(),
		tea.WithColorProfile(colorprofile.ASCII))
}

// followSize sends the terminal's size, and every change of it until ctx ends.
func followSize(ctx context.Context, t *outer.Terminal, send func(tea.Msg)) {
	for size := range t.Resizes(ctx) {
		send(sizeMsg{size.Cols, size.Rows})
	}
}

// themeFor returns the theme with which a view begins: the chosen one, if the terminal has the
// colors for it, or one that is readable on any background. follow says that nothing was chosen and
// the terminal has 256 colors, so a theme for its background can follow once it has reported that.
func themeFor(p paint.ColorProfile, chosen string) (theme string, follow bool) {
	switch {
	case p == paint.NoColor:
		return "none", false
	case p == paint.ANSI16 && chosen != "none":
		return "16", false
	case chosen != "":
		return chosen, false
	}
	return "16", true
}

// shutdownTimeout bounds how long Run waits at its end for canceled requests to the broker.
const shutdownTimeout = 5 * time.Second

// retryEvery is how long to wait before subscribing to the broker's events again.
const retryEvery = time.Second

// followBroker sends the broker's events to the event loop. The channel closes when this program is
// too slow; then followBroker subscribes again and lists the broker's state again.
func followBroker(ctx context.Context, api broker.API, events <-chan broker.Event, send func(tea.Msg)) {
	for ctx.Err() == nil {
		for ev := range events {
			send(brokerMsg{ev})
		}
		for ctx.Err() == nil {
			var err error
			if events, err = api.Subscribe(ctx); err == nil {
				if err = list(ctx, api, send); err == nil {
					break
				}
			}
			if ctx.Err() == nil {
				send(brokerLostMsg{fmt.Errorf("listen to the broker: %w", err)})
				pane.Sleep(ctx, retryEvery)
			}
		}
	}
}

// list sends the broker's whole state to the event loop.
func list(ctx context.Context, api broker.API, send func(tea.Msg)) error {
	at := time.Now()
	sessions, err := api.Sessions(ctx)
	if err != nil {
		return err
	}
	pending, err := api.Pending(ctx)
	if err != nil {
		return err
	}
	send(listedMsg{at, sessions, pending})
	return nil
}
