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

// Agent is the agent that a view controls. Its methods may block: they are called on goroutines that
// Run waits for, but Past before anything is shown.
type Agent interface {
	// Turn runs one turn to its end. Its context is cancelled when the person interrupts it.
	// All its events are sent before it returns. An empty text continues what is unfinished.
	Turn(ctx context.Context, text string) error
	// Compact makes the conversation shorter; otherwise it is like Turn.
	Compact(ctx context.Context) error
	// UseModel uses another model from now on. The name is not empty.
	UseModel(name string) error
	// Model returns the name of the model in use.
	Model() string
	// Program returns the code of program n, from 1.
	Program(n int) (code string, known bool)
	// Past returns the conversation before this process, which is shown again.
	Past() []builtin.Event
}

// Options are everything that a view uses. It opens nothing itself.
type Options struct {
	In      io.Reader               // bytes of the terminal, which is in raw mode already
	Out     io.Writer               // the terminal
	Size    func() (cols, rows int) // of the terminal
	Resized <-chan struct{}         // the size may have changed; of several values all but one may be dropped
	Events  <-chan builtin.Event    // of the agent; none is dropped, and they are read as long as a turn runs
	Agent   Agent
	NoColor bool // the variable NO_COLOR is set
}

// Run shows the agent until the person ends it, or In or ctx ends, and then waits until no turn runs
// any more. It ends a pending read of In if In has SetReadDeadline, as the file of a terminal in
// nonblocking mode has. Otherwise that read ends with the next key, or when In is closed.
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
		board.copy(o.In) // when it ends, the view ends
		r.program.Send(leave{})
	}()
	var rest sync.WaitGroup
	rest.Go(func() { r.pump(ctx) })
	rest.Go(func() { r.screen.run(r.stop) })

	_, err := r.program.Run()
	_ = keys.Close()
	m.leave(builtin.ErrGone) // in case the program ended for another reason
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

// running is a running view: its goroutines, and their connection to Bubble Tea's loop.
type running struct {
	o       Options
	screen  *screen
	program *tea.Program
	jobs    sync.WaitGroup // started by the model
	ended   chan ended     // turns; unbuffered, the pump receives until it is stopped
	stop    chan struct{}
}

func (r *running) job(do func() tea.Msg) {
	r.jobs.Go(func() { r.program.Send(do()) })
}

func (r *running) turn(ctx context.Context, do func(context.Context) error) {
	r.jobs.Go(func() { r.ended <- ended{do(ctx)} })
}

// pump passes events to Bubble Tea's loop. It continues when the loop has ended, so that a turn that
// is still running does not block on an event.
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

// more appends the events that can be received at once.
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

// How much of an earlier conversation is shown again.
const (
	pastEvents = 500
	pastBytes  = 256 << 10 // of the events' texts
	pastRows   = 200
)

// remember shows the end of the earlier conversation.
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
	m.retry, m.arrived = nil, nil
	m.above = append(m.above[max(0, len(m.above)-pastRows):], own("  continued", muted))
}
