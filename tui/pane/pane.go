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
)

// ResizeEvery is the shortest time between two resizes of one agent's screen:
// a window that is dragged produces hundreds.
const ResizeEvery = 80 * time.Millisecond

// holdTime is when a synchronized update that has not ended is drawn anyway;
// a little longer than the screen holds it back.
const holdTime = 160 * time.Millisecond

// Pane moves bytes between an agent's terminal and its screen of cells. What the
// agent writes comes on the goroutine that read it; of the pane's own one waits
// for the end of that, one writes what the queue holds, one resizes. The screen
// slows down the reader and the reader the agent, so a flood costs no memory.
type Pane struct {
	id       broker.SessionID
	Screen   *term.Screen
	Queue    *InputQueue
	priority *Priority
	tasks    *Tasks
	ctx      context.Context
	cancel   context.CancelFunc

	Visible   atomic.Bool
	past      int64         // bytes to come that the agent wrote in its former life
	recalling atomic.Bool   // what is written to the screen is from before
	drawn     atomic.Bool   // there has been text on the screen
	output    atomic.Int64  // when the agent has last written, in nanoseconds since 1970
	wrote     chan struct{} // capacity 1, lossy: the agent has written something
	hooks     Hooks

	mu       sync.Mutex
	terminal broker.Terminal
	cols     int
	rows     int
	late     *time.Timer   // a frame for an update that does not end
	resized  chan struct{} // capacity 1, lossy: cols and rows have changed
}

// Hooks is how a pane reaches the rest of the program.
type Hooks struct {
	Wake  func()              // asks for a frame; never blocks
	Show  func()              // asks for one, and may paint it at once
	Began func()              // called once, when the agent has written some text
	Ended func(err error)     // called once, when the agent's terminal has ended
	Event func(ev term.Event) // what the program asked for besides drawing
}

// New makes a pane with an empty screen. What is written to it waits until
// a terminal is attached.
func New(ctx context.Context, tasks *Tasks, priority *Priority, id broker.SessionID, o term.Options, hooks Hooks) (*Pane, error) {
	p := &Pane{
		id:       id,
		Queue:    newInputQueue(),
		priority: priority,
		tasks:    tasks,
		hooks:    hooks,
		cols:     o.Cols,
		rows:     o.Rows,
		resized:  make(chan struct{}, 1),
		wrote:    make(chan struct{}, 1),
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	o.Notify = p.happened
	screen, err := term.NewScreen(o)
	if err != nil {
		return nil, err
	}
	p.Screen = screen
	return p, nil
}

// Attach connects the pane to an agent's terminal, which it owns from then on.
// On a pane that was closed meanwhile it closes the terminal.
func (p *Pane) Attach(t broker.Terminal) error {
	p.mu.Lock()
	if p.ctx.Err() != nil || p.terminal != nil {
		p.mu.Unlock()
		return errors.Join(errors.New("attach: the tab is closed"), t.Close())
	}
	p.terminal = t
	p.mu.Unlock()
	signal(p.resized)
	read := func() { p.hooks.Ended(p.read(t)) }
	if !p.tasks.Start(read) || !p.tasks.Start(func() { p.write(t) }) || !p.tasks.Start(func() { p.resize(t) }) {
		p.Close()
	}
	return nil
}

// Connect connects the pane to the terminal of its session's agent; it waits until the
// agent runs.
func (p *Pane) Connect(api broker.API) error {
	t, err := api.Attach(p.ctx, p.id)
	if err != nil {
		return err
	}
	return p.Attach(t)
}

// Close detaches from the terminal and ends the pane's goroutines; it does not
// wait for them, the group does. The screen keeps its last picture.
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

// read feeds the screen until the terminal ends. It returns nil for a plain
// end of the agent.
func (p *Pane) read(t broker.Terminal) error {
	p.past = t.History()
	err := t.CopyTo(p)
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// Write takes output of the agent, on the goroutine that read it, which is not
// the group's, but as dangerous to the person's terminal.
func (p *Pane) Write(output []byte) (int, error) {
	if p.Visible.Load() {
		p.tasks.Run(func() { p.take(output) })
		return len(output), nil
	}
	if !p.priority.yield(p.ctx) {
		return 0, p.ctx.Err()
	}
	begin := time.Now()
	p.tasks.Run(func() { p.take(output) })
	if !p.priority.rest(p.ctx, time.Since(begin)) {
		return 0, p.ctx.Err()
	}
	// Has the runtime look whether a key has come, which it does not while
	// a goroutine has more to do all the time.
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
	if p.Silent() && p.legible() {
		p.drawn.Store(true)
		p.hooks.Began()
	}
	if p.Visible.Load() && p.Screen.Generation() != before {
		p.show()
	}
	p.answer()
}

// answer gives the agent what its screen owes it.
func (p *Pane) answer() {
	if replies := p.Screen.TakeReplies(); len(replies) > 0 {
		p.Queue.PutLast(replies)
	}
}

// SetColors tells the screen the colors of the person's terminal, and the agent if it
// wants to know.
func (p *Pane) SetColors(foreground, background term.Color) {
	p.Screen.SetColors(foreground, background)
	p.answer()
}

// take tells what an agent wrote in its former life from what it writes now.
func (p *Pane) take(output []byte) {
	old := min(p.past, int64(len(output)))
	if old > 0 {
		p.recall(output[:old])
		p.past -= old
	}
	if int(old) < len(output) {
		p.Feed(output[old:])
	}
}

// recall gives the screen what an agent that was taken back wrote before. What
// it asked its terminal then was answered then.
func (p *Pane) recall(data []byte) {
	p.recalling.Store(true)
	defer p.recalling.Store(false)
	_, _ = p.Screen.Write(data)
	p.Screen.TakeReplies()
	if p.Visible.Load() {
		p.show()
	}
}

// happened passes on what a program asks for besides drawing. Of what it asked
// for in its former life only the title matters.
func (p *Pane) happened(ev term.Event) {
	if !p.recalling.Load() || ev.Kind == term.EventTitle {
		p.hooks.Event(ev)
	}
}

// NoteOutput notes when the agent has last written something.
func (p *Pane) NoteOutput(at time.Time) { p.output.Store(at.UnixNano()) }

// LastOutput is when the agent has last written something.
func (p *Pane) LastOutput() time.Time { return time.Unix(0, p.output.Load()) }

// Silent reports whether the agent has written nothing yet that a person could read.
// The first that many write are questions to their terminal.
func (p *Pane) Silent() bool { return !p.drawn.Load() }

// legible reports whether there is any text on the screen.
func (p *Pane) legible() bool {
	_, rows := p.Screen.Size()
	for _, line := range p.Screen.Text(max(0, p.Screen.LineCount()-rows), rows) {
		if strings.TrimSpace(line) != "" {
			return true
		}
	}
	return false
}

// show asks for a frame. While the program is in the middle of a synchronized
// update that waits for its end, or for the time that it may take.
func (p *Pane) show() {
	if !p.Screen.Held() {
		p.hooks.Show()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	if p.late == nil {
		p.late = time.AfterFunc(holdTime, p.hooks.Wake)
	} else {
		p.late.Reset(holdTime)
	}
}

// write sends what the queue holds to the agent, in order.
func (p *Pane) write(t broker.Terminal) {
	echo := func() bool { return true } // of what was written last
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
			// The reader meets the same end and reports it.
			p.Queue.Discard()
			return
		}
	}
}

// Send types to the agent: at once where it takes what was typed without
// waiting. It reports false when it takes nothing at all.
func (p *Pane) Send(data []byte) bool {
	p.priority.keyTyped()
	return p.Queue.pass(data, p.try)
}

// try types what the agent takes without waiting, and returns how many bytes
// that was. An error is met again by the goroutine that writes the rest.
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

// SetSize says how large the pane shall be. The screen and the agent follow at
// once when the last change is some time ago, and otherwise a little later,
// always with the size that was asked for last.
func (p *Pane) SetSize(cols, rows int) {
	p.mu.Lock()
	same := p.cols == cols && p.rows == rows
	p.cols, p.rows = cols, rows
	attached := p.terminal != nil
	p.mu.Unlock()
	if same {
		return
	}
	if !attached {
		p.Screen.Resize(cols, rows)
		return
	}
	signal(p.resized)
}

// resize follows setSize.
func (p *Pane) resize(t broker.Terminal) {
	told := [2]int{}
	for {
		select {
		case <-p.resized:
		case <-p.ctx.Done():
			return
		}
		p.mu.Lock()
		want := [2]int{p.cols, p.rows}
		p.mu.Unlock()
		if want == told {
			continue
		}
		told = want
		p.Screen.Resize(want[0], want[1])
		p.answer() // it may have asked for a report
		if p.Visible.Load() {
			p.hooks.Wake()
		}
		// An agent that cannot be told of its size now is told with the next
		// change; that its terminal is gone the reader reports.
		_ = t.Resize(p.ctx, want[0], want[1])
		if !Sleep(p.ctx, ResizeEvery) {
			return
		}
	}
}
