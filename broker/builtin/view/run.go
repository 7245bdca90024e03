package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// Agent is what the view steers. Its methods may take their time: they are called on
// goroutines that Run waits for, Past before anything is shown.
type Agent interface {
	// Turn runs one turn to its end. That its context is cancelled means that the person
	// has interrupted it. All its events are sent before it returns. Without a text it goes
	// on with what is unfinished.
	Turn(ctx context.Context, text string) error
	// Compact makes the conversation shorter, otherwise like Turn.
	Compact(ctx context.Context) error
	// UseModel is called with a name that is not empty.
	UseModel(name string) error
	// Model is the model that answers.
	Model() string
	// Program returns the code of program n, from 1.
	Program(n int) (code string, known bool)
	// Past is the conversation before, which is shown again.
	Past() []builtin.Event
}

// Options is all that a view has. It opens nothing.
type Options struct {
	In      io.Reader               // bytes of the terminal, which is in raw mode already
	Out     io.Writer               // the terminal
	Size    func() (cols, rows int) // of the terminal
	Resized <-chan struct{}         // the size may have changed; may drop values, one that waits covers all
	Events  <-chan builtin.Event    // of the agent; none is dropped, and they are read for as long as a turn runs
	Agent   Agent
	NoColor bool // as the variable NO_COLOR asks
}

// Run shows the agent until the person ends it, the input ends or the context does, and
// until no turn runs any more. It ends the read of In that is under way if In has
// SetReadDeadline, as files of a terminal in nonblocking mode do. Else that read ends with
// the next key, or when In is closed.
func Run(ctx context.Context, o Options) error {
	r := &running{o: o, ended: make(chan ended), stop: make(chan struct{}), screen: newScreen(o)}
	keys, typed := io.Pipe()
	board := &keyboard{out: typed, pastes: map[string]string{}}
	m := &model{o: o, keys: board, input: newInput(), job: r.job, turn: r.turn, draw: r.screen.draw, gone: make(chan struct{})}
	m.cols, m.rows = o.Size()
	m.remember(o.Agent.Past())
	if m.used.Model == "" {
		m.used.Model = o.Agent.Model()
	}
	r.program = tea.NewProgram(m,
		tea.WithInput(struct{ io.Reader }{keys}), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithWindowSize(m.cols, m.rows), tea.WithoutSignalHandler(), tea.WithColorProfile(colorprofile.ASCII),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}))

	reader := make(chan struct{})
	go func() {
		defer close(reader)
		board.copy(o.In) // however it ends, the view does
		r.program.Send(leave{})
	}()
	var rest sync.WaitGroup
	rest.Go(func() { r.pump(ctx) })
	rest.Go(func() { r.screen.run(r.stop) })

	_, err := r.program.Run()
	_ = keys.Close()
	m.leave(builtin.ErrGone) // if it was not the model that ended it
	r.jobs.Wait()
	close(r.stop)
	rest.Wait()
	if d, ok := o.In.(interface{ SetReadDeadline(t time.Time) error }); ok && d.SetReadDeadline(time.Now()) == nil {
		<-reader
	}
	if err != nil && !errors.Is(err, tea.ErrProgramPanic) {
		return fmt.Errorf("show the agent: %w", err)
	}
	return err
}

// running is a view that runs: its goroutines, and their way to Bubble Tea's loop.
type running struct {
	o       Options
	screen  *screen
	program *tea.Program
	jobs    sync.WaitGroup // those that the model has started
	ended   chan ended     // turns; the pump takes them until it is stopped
	stop    chan struct{}
}

func (r *running) job(do func() tea.Msg) {
	r.jobs.Go(func() { r.program.Send(do()) })
}

func (r *running) turn(ctx context.Context, do func(context.Context) error) {
	r.jobs.Go(func() { r.ended <- ended{do(ctx)} })
}

// pump brings what happens to Bubble Tea's loop. It goes on when that has ended, so that
// no turn is stuck at an event until it has noticed its end.
func (r *running) pump(ctx context.Context) {
	events, done := r.o.Events, ctx.Done()
	for {
		select {
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			r.program.Send(r.more(happened{e}))
		case e := <-r.ended:
			if rest := r.more(nil); len(rest) > 0 {
				r.program.Send(rest)
			}
			r.program.Send(e)
		case <-r.o.Resized:
			r.resize()
		case <-r.screen.resized:
			r.resize()
		case <-done:
			done = nil
			r.program.Send(leave{})
		case <-r.stop:
			return
		}
	}
}

func (r *running) resize() {
	cols, rows := r.o.Size()
	r.program.Send(tea.WindowSizeMsg{Width: cols, Height: rows})
}

// more adds the events that wait already.
func (r *running) more(es happened) happened {
	for {
		select {
		case e, open := <-r.o.Events:
			if !open {
				return es
			}
			es = append(es, e)
		default:
			return es
		}
	}
}

// Bounds of what is shown again of a conversation.
const (
	pastEvents = 500
	pastBytes  = 256 << 10 // of their texts, after which no earlier one is shown
	pastRows   = 200
)

// remember shows the end of the conversation before.
func (m *model) remember(past []builtin.Event) {
	for _, e := range past {
		if e.Kind == builtin.Asked {
			m.input.history = append(m.input.history, m.input.shown(e.Text))
		}
	}
	m.input.clear()
	from := len(past)
	for bytes := 0; from > 0 && len(past)-from < pastEvents && bytes < pastBytes; bytes += len(past[from].Text) {
		from--
	}
	for _, e := range past[from:] {
		m.apply(e)
	}
	if len(past) == 0 {
		return
	}
	m.print(m.theirs(m.words.end(m.width() - 2))...)
	m.close()
	m.retry, m.heard = nil, nil
	m.above = append(m.above[max(0, len(m.above)-pastRows):], own("  continued", muted))
}
