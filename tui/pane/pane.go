package pane

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// ResizeEvery is the shortest time between two resizes of one agent's screen, because
// dragging the edge of a window produces hundreds.
const ResizeEvery = 80 * time.Millisecond

// holdTime is how long after output a synchronized update that has not ended is drawn
// anyway. It is a little longer than the screen holds the update back.
const holdTime = 160 * time.Millisecond

// Pane moves bytes between an agent's terminal and its screen of cells, for any number of
// views. The terminal calls
// Write on the goroutine that read the output. The pane has three goroutines of its own:
// one waits until the output ends, one writes what is in the queue, one resizes. A busy
// screen slows down the reader, and the reader the agent, so a flood of output takes no
// memory.
type Pane struct {
	id       broker.SessionID
	Screen   *term.Screen
	Queue    *InputQueue
	priority *Priority
	tasks    *Tasks
	ctx      context.Context
	cancel   context.CancelFunc

	views     atomic.Pointer[[]*View] // replaced as a whole, under mu
	user      atomic.Pointer[View]    // in which the program was used last; nil when that has left
	past      int64                   // bytes still to come that the agent wrote before we attached
	replaying atomic.Bool             // the screen is given such bytes
	drawn     atomic.Bool             // there has been text on the screen
	output    atomic.Int64            // when the agent last wrote, in nanoseconds since 1970
	wrote     chan struct{}           // capacity 1, lossy: the agent has written something

	connecting sync.Mutex // held while the agent is waited for

	mu       sync.Mutex
	terminal broker.Terminal
	ended    *error        // with which the terminal has ended; nil before
	title    term.Event    // the newest title that the program has set
	name     string        // given by the person
	first    []input.Piece // the prompt that is sent once the agent is ready
	opened   bool          // there has been a view
	inherits bool          // the screen begins with the lines of another one
	cols     int
	rows     int
	late     *time.Timer   // asks for a frame when a synchronized update does not end
	resized  chan struct{} // capacity 1, lossy: cols and rows have changed
}

// New makes a pane with an empty screen. Input waits in its queue until a terminal is
// attached.
func New(ctx context.Context, tasks *Tasks, priority *Priority, id broker.SessionID, o term.Options) (*Pane, error) {
	p := &Pane{
		id:       id,
		Queue:    newInputQueue(),
		priority: priority,
		tasks:    tasks,
		cols:     o.Cols,
		rows:     o.Rows,
		resized:  make(chan struct{}, 1),
		wrote:    make(chan struct{}, 1),
	}
	p.views.Store(new([]*View))
	p.ctx, p.cancel = context.WithCancel(ctx)
	o.Notify = p.onEvent
	screen, err := term.NewScreen(o)
	if err != nil {
		return nil, err
	}
	p.Screen = screen
	return p, nil
}

// Attach connects the pane to an agent's terminal, which the pane then owns. On a pane
// that was closed meanwhile it closes the terminal and returns an error.
func (p *Pane) Attach(t broker.Terminal) error {
	p.mu.Lock()
	if p.ctx.Err() != nil || p.terminal != nil {
		p.mu.Unlock()
		return errors.Join(errors.New("attach: the tab is closed"), t.Close())
	}
	p.terminal = t
	p.mu.Unlock()
	signal(p.resized)
	read := func() { p.end(p.read(t)) }
	if !p.tasks.Start(read) || !p.tasks.Start(func() { p.write(t) }) || !p.tasks.Start(func() { p.resize(t) }) {
		p.Close()
	}
	return nil
}

// Connected reports whether the pane has an agent's terminal, or had one that has ended.
func (p *Pane) Connected() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terminal != nil
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

// end notes that the terminal has ended.
func (p *Pane) end(err error) {
	p.mu.Lock()
	p.ended = &err
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

// read feeds the screen until the terminal ends. It returns nil when the agent ended
// normally or the pane was closed.
func (p *Pane) read(t broker.Terminal) error {
	p.past = t.History()
	err := t.CopyTo(p)
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// Write takes output of the agent. It is called on the goroutine that read the output,
// which is none of p.tasks; p.tasks.Run makes sure that a panic there restores the
// person's terminal too.
func (p *Pane) Write(output []byte) (int, error) {
	if p.visible() {
		p.tasks.Run(func() { p.take(output) })
		return len(output), nil
	}
	if !p.priority.yield(p.ctx) {
		return 0, p.ctx.Err()
	}
	begin := time.Now()
	p.tasks.Run(func() { p.take(output) })
	if !p.priority.pause(p.ctx, time.Since(begin)) {
		return len(output), p.ctx.Err()
	}
	// Lets the scheduler run the goroutine that reads keys. It would not while this
	// goroutine always has more to do.
	runtime.Gosched()
	return len(output), nil
}

// Feed gives bytes of the agent to its screen, and the screen's answers back
// to the agent.
func (p *Pane) Feed(data []byte) {
	p.NoteOutput(time.Now())
	signal(p.wrote)
	before := p.Screen.Generation()
	_, _ = p.Screen.Write(data)
	if p.Silent() && p.hasText() {
		p.drawn.Store(true)
		p.changed()
	}
	if p.Screen.Generation() != before {
		p.show()
	}
	p.answer()
}

// answer sends the agent the screen's replies to its queries.
func (p *Pane) answer() {
	if replies := p.Screen.TakeReplies(); len(replies) > 0 {
		p.Queue.PutLast(replies)
	}
}

// SetColors sets the colors of the person's terminal on the screen, which reports them to
// the agent if the agent asked for that.
func (p *Pane) SetColors(foreground, background term.Color) {
	p.Screen.SetColors(foreground, background)
	p.answer()
}

// take gives output to the screen. Output from before we attached comes first and is
// replayed.
func (p *Pane) take(output []byte) {
	old := min(p.past, int64(len(output)))
	if old > 0 {
		p.replay(output[:old])
		p.past -= old
	}
	if int(old) < len(output) {
		p.Feed(output[old:])
	}
}

// replay gives the screen what an agent wrote before we attached to it. Replies are
// dropped, because the agent's queries were answered at that time.
func (p *Pane) replay(data []byte) {
	p.replaying.Store(true)
	defer p.replaying.Store(false)
	_, _ = p.Screen.Write(data)
	p.Screen.TakeReplies()
	p.show()
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

// TakeFirst returns that prompt for the view that sends it. No other one gets it then.
func (p *Pane) TakeFirst() []input.Piece {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.first
	p.first = nil
	return first
}

// Name returns the name that a person has given the pane; empty for none.
func (p *Pane) Name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

// SetName names the pane in all views.
func (p *Pane) SetName(name string) {
	p.mu.Lock()
	same := p.name == name
	p.name = name
	p.mu.Unlock()
	if !same {
		p.changed()
	}
}

// Inherit takes over the name and the scrollback of a pane that this one replaces, with a line
// below. It does so once, whichever view asks.
func (p *Pane) Inherit(from *Pane, line []term.Cell) {
	name := from.Name()
	p.mu.Lock()
	done := p.inherits
	p.inherits = true
	if !done {
		p.name = name
	}
	p.mu.Unlock()
	if !done {
		p.Screen.Inherit(from.Screen, line)
	}
}

// onEvent passes on what a program asks for besides drawing. From replayed output it
// passes on only the title.
func (p *Pane) onEvent(ev term.Event) {
	if ev.Kind == term.EventTitle {
		p.mu.Lock()
		p.title = ev
		p.mu.Unlock()
	} else if p.replaying.Load() {
		return
	}
	for _, v := range *p.views.Load() {
		v.hooks.Event(ev)
	}
}

// NoteOutput notes that the agent wrote something at a time.
func (p *Pane) NoteOutput(at time.Time) { p.output.Store(at.UnixNano()) }

// LastOutput returns when the agent last wrote something.
func (p *Pane) LastOutput() time.Time { return time.Unix(0, p.output.Load()) }

// Silent reports whether the agent has not shown any text yet. The first output of many
// agents is only queries to their terminal.
func (p *Pane) Silent() bool { return !p.drawn.Load() }

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

// show asks the views that show the pane for a frame. The one in which the person uses the
// program may paint it at once; a slow terminal of another one must not hold up the agent.
// During a synchronized update show waits until the update ends or holdTime is over.
func (p *Pane) show() {
	if p.Screen.Held() {
		p.showLate()
		return
	}
	user := p.user.Load()
	for _, v := range *p.views.Load() {
		switch {
		case !v.visible.Load():
		case v == user:
			v.hooks.Show()
		default:
			v.hooks.Wake()
		}
	}
}

// showLate asks for a frame when holdTime is over.
func (p *Pane) showLate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || !p.visible() {
		return
	}
	if p.late == nil {
		p.late = time.AfterFunc(holdTime, p.wake)
	} else {
		p.late.Reset(holdTime)
	}
}

// write sends what is in the queue to the agent, in order.
func (p *Pane) write(t broker.Terminal) {
	echo := func() bool { return true } // reports whether the last step was echoed
	for {
		k, ok := p.Queue.take(p.ctx)
		if !ok {
			return
		}
		if k.pause > 0 && !p.awaitEcho(echo, k.pause) {
			return
		}
		echo = p.echoOf(k.tail)
		if _, err := t.Write(k.data); err != nil {
			// The goroutine that reads gets the same error and reports it.
			p.Queue.Discard()
			return
		}
	}
}

// try writes as many bytes as the agent takes without waiting, and returns how many. It
// drops an error, because the goroutine that writes the rest gets it again.
func (p *Pane) try(data []byte) int {
	p.mu.Lock()
	t := p.terminal
	p.mu.Unlock()
	if t == nil {
		return 0
	}
	n, _ := t.TryWrite(data)
	return n
}

// setSize sets the size of the pane. The screen and the agent are resized at once when the
// last resize was more than ResizeEvery ago, and otherwise a little later, always to the size
// that was set last. The caller holds the mutex.
func (p *Pane) setSize(cols, rows int) {
	if p.cols == cols && p.rows == rows {
		return
	}
	p.cols, p.rows = cols, rows
	if p.terminal == nil {
		p.Screen.Resize(cols, rows)
		return
	}
	signal(p.resized)
}

// resize gives the screen and the agent the sizes that setSize sets.
func (p *Pane) resize(t broker.Terminal) {
	last := [2]int{}
	for {
		select {
		case <-p.resized:
		case <-p.ctx.Done():
			return
		}
		p.mu.Lock()
		want := [2]int{p.cols, p.rows}
		p.mu.Unlock()
		if want == last {
			continue
		}
		last = want
		p.Screen.Resize(want[0], want[1])
		p.answer() // the agent may have asked for a report of each resize
		p.wake()
		if len(*p.views.Load()) > 1 {
			p.changed()
		}
		// An error needs no report: the next resize tries again, and when the terminal
		// is gone, the goroutine that reads reports that.
		_ = t.Resize(p.ctx, want[0], want[1])
		if !Sleep(p.ctx, ResizeEvery) {
			return
		}
	}
}
