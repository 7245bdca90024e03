package pane

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// Pane moves bytes between an agent's terminal and its screen of cells, for any number of
// views. The terminal calls Write on the goroutine that read the output. The pane has three
// goroutines of its own: one waits until the output ends, one writes the queued input, one
// resizes. A busy screen slows down the reader, and the reader the agent, so a flood of
// output takes no memory.
type Pane struct {
	id       broker.SessionID
	Screen   *term.Screen
	Queue    *InputQueue
	priority *Priority
	tasks    *Tasks
	ctx      context.Context
	cancel   context.CancelFunc

	views     atomic.Pointer[[]*View] // replaced as a whole, under mu
	user      atomic.Pointer[View]    // the view in which the program was used last; nil if it has left
	past      int64                   // bytes still to come that the agent wrote before we attached
	replaying atomic.Bool             // the screen receives such bytes
	answering sync.Mutex              // held while replies of the screen are sent, or dropped
	drawn     atomic.Bool             // there has been text on the screen
	commands  atomic.Bool             // the agent is a shell that runs a command
	output    atomic.Int64            // when the agent last wrote, in nanoseconds since 1970
	received  atomic.Int64            // bytes of the agent that the screen has received
	wrote     chan struct{}           // capacity 1, lossy: the agent has written something

	connecting sync.Mutex     // held while connect waits for the agent
	running    sync.WaitGroup // the pane's own goroutines

	mu       sync.Mutex
	terminal broker.Terminal
	ended    *error        // the error of the terminal's end; nil until it ends
	title    term.Event    // the newest title that the program has set
	first    []input.Piece // the prompt that is sent once the agent is ready
	opened   bool          // there has been a view
	inherits bool          // the screen begins with the lines of another one
	cols     int
	rows     int
	unfitted [2]int        // the size before Fit made it smaller; zero if Fit has not
	late     *time.Timer   // asks for a frame when a synchronized update does not end
	resized  chan struct{} // capacity 1, lossy: cols and rows have changed
}

// New makes a pane with an empty screen. Input waits in its queue until a terminal is
// attached.
func New(ctx context.Context, tasks *Tasks, priority *Priority, id broker.SessionID, o term.Options) (*Pane, error) {
	p := newPane(ctx, tasks, priority, id, o.Cols, o.Rows)
	o.Notify = p.onEvent
	screen, err := term.NewScreen(o)
	if err != nil {
		p.cancel()
		return nil, err
	}
	p.Screen = screen
	return p, nil
}

// newPane makes a pane without a screen.
func newPane(ctx context.Context, tasks *Tasks, priority *Priority, id broker.SessionID, cols, rows int) *Pane {
	p := &Pane{
		id:       id,
		Queue:    newInputQueue(),
		priority: priority,
		tasks:    tasks,
		cols:     cols,
		rows:     rows,
		resized:  make(chan struct{}, 1),
		wrote:    make(chan struct{}, 1),
	}
	p.views.Store(new([]*View))
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// Attach connects the pane to an agent's terminal, which the pane then owns. An agent that was
// taken back keeps its size until its program is used in a view. If the pane was closed in the
// meantime, or has a terminal already, Attach closes the new terminal and returns an error.
func (p *Pane) Attach(t broker.Terminal) error {
	p.mu.Lock()
	if err := p.attachable(); err != nil {
		p.mu.Unlock()
		return errors.Join(err, t.Close())
	}
	if cols, rows := t.FormerSize(); cols > 0 {
		p.user.Store(nil) // the program was used in no view yet
		p.setSize(cols, rows)
	}
	p.terminal = t
	p.running.Add(1) // so that Save waits for the goroutines that are started next
	p.mu.Unlock()
	defer p.running.Done()
	signal(p.resized)
	read := func() { p.end(p.read(t)) }
	if !p.start(read) || !p.start(func() { p.write(t) }) || !p.start(func() { p.resize(t) }) {
		p.Close()
	}
	return nil
}

// start runs f in a goroutine of the pane. It reports false when p.tasks is closed.
func (p *Pane) start(f func()) bool {
	p.running.Add(1)
	started := p.tasks.Start(func() {
		defer p.running.Done()
		f()
	})
	if !started {
		p.running.Done()
	}
	return started
}

// Connected reports whether the pane has an agent's terminal, or had one that has ended.
func (p *Pane) Connected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terminal != nil || p.ended != nil
}

// The errors of attaching a pane that is closed, or that has a terminal already.
var (
	errClosed   = errors.New("attach: the tab is closed")
	errAttached = errors.New("attach: the tab has a terminal already")
)

// attachable returns why the pane can take no terminal. The caller holds p.mu.
func (p *Pane) attachable() error {
	switch {
	case p.ctx.Err() != nil:
		return errClosed
	case p.terminal != nil:
		return errAttached
	}
	return nil
}

func (p *Pane) connect(api broker.API) error {
	p.connecting.Lock()
	defer p.connecting.Unlock()
	if p.Connected() {
		return nil
	}
	t, err := api.Attach(p.ctx, p.id)
	if err != nil {
		return err
	}
	return p.Attach(t)
}

// end records that the terminal has ended, and tells the views. If the pane was closed, only
// the connection to the terminal has ended, so end records nothing.
func (p *Pane) end(err error) {
	p.mu.Lock()
	if p.ctx.Err() == nil {
		p.ended = &err
	}
	views := *p.views.Load()
	p.mu.Unlock()
	for _, v := range views {
		v.hooks.Ended(err)
	}
}

// Close detaches from the terminal and ends the pane's goroutines. It does not wait for
// them; Tasks.Wait does. The screen keeps its cells.
func (p *Pane) Close() {
	p.cancel()
	p.mu.Lock()
	t := p.terminal
	if p.late != nil {
		p.late.Stop()
	}
	p.mu.Unlock()
	if t != nil {
		_ = t.Close()
	}
}

// SetColors sets the colors of the person's terminal on the screen, which reports them to
// the agent if the agent asked for that.
func (p *Pane) SetColors(foreground, background term.Color) {
	p.Screen.SetColors(foreground, background)
	p.answer()
}

// SetFirst sets the prompt that is sent once the agent is ready.
func (p *Pane) SetFirst(prompt []input.Piece) {
	p.mu.Lock()
	p.first = prompt
	p.mu.Unlock()
}

// First returns that prompt; nil for none.
func (p *Pane) First() []input.Piece {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// TakeFirst returns that prompt and removes it, so that only one view sends it.
func (p *Pane) TakeFirst() []input.Piece {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.first
	p.first = nil
	return first
}

// Inherit moves the scrollback of a pane that this one replaces into this one, with the divider
// line below it. Several views may call it; only the first call has an effect.
func (p *Pane) Inherit(from *Pane, line []term.Cell) {
	p.mu.Lock()
	done := p.inherits
	p.inherits = true
	p.mu.Unlock()
	if !done {
		p.Screen.Inherit(from.Screen, line)
	}
}

// onEvent passes on what a program asks for besides drawing. From replayed output it
// passes on only the title, and whether a shell runs a command.
func (p *Pane) onEvent(ev term.Event) {
	switch ev.Kind {
	case term.EventTitle:
		p.mu.Lock()
		p.title = ev
		p.mu.Unlock()
	case term.EventCommand, term.EventPrompt:
		p.commands.Store(ev.Kind == term.EventCommand)
	default:
		if p.replaying.Load() {
			return
		}
	}
	for _, v := range *p.views.Load() {
		v.hooks.Event(ev)
	}
}

// NoteOutput records when the agent wrote something.
func (p *Pane) NoteOutput(at time.Time) { p.output.Store(at.UnixNano()) }

// LastOutput returns when the agent last wrote something.
func (p *Pane) LastOutput() time.Time { return time.Unix(0, p.output.Load()) }

// Silent reports whether the agent has not shown any text yet. The first output of many
// agents is only queries to their terminal.
func (p *Pane) Silent() bool { return !p.drawn.Load() }

// Commands reports whether the agent is a shell that runs a command. This is known only of shells
// that mark their prompts.
func (p *Pane) Commands() bool { return p.commands.Load() }

// hasText reports whether there is any text on the screen.
func (p *Pane) hasText() bool {
	_, rows := p.Screen.Size()
	for _, line := range p.Screen.Text(max(0, p.Screen.LineCount()-rows), rows) {
		if strings.TrimSpace(line) != "" {
			return true
		}
	}
	return false
}
