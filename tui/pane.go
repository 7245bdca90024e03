package tui

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

// resizeEvery is the shortest time between two resizes of one agent's screen:
// a window that is dragged produces hundreds.
const resizeEvery = 80 * time.Millisecond

// holdTime is when a synchronized update that has not ended is drawn anyway;
// a little longer than the screen holds it back.
const holdTime = 160 * time.Millisecond

// pane moves bytes between an agent's terminal and its screen of cells. What the
// agent writes comes on the goroutine that read it; of the pane's own one waits
// for the end of that, one writes what the queue holds, one resizes. The screen
// slows down the reader and the reader the agent, so a flood costs no memory.
type pane struct {
	id       broker.SessionID
	screen   *term.Screen
	queue    *inputQueue
	priority *inputPriority
	tasks    *taskGroup
	ctx      context.Context
	cancel   context.CancelFunc

	visible   atomic.Bool
	past      int64         // bytes to come that the agent wrote in its former life
	recalling atomic.Bool   // what is written to the screen is from before
	drawn     atomic.Bool   // there has been text on the screen
	output    atomic.Int64  // when the agent has last written, in nanoseconds since 1970
	wrote     chan struct{} // capacity 1, lossy: the agent has written something
	hooks     paneHooks

	mu       sync.Mutex
	terminal broker.Terminal
	cols     int
	rows     int
	late     *time.Timer   // a frame for an update that does not end
	resized  chan struct{} // capacity 1, lossy: cols and rows have changed
}

// paneHooks is how a pane reaches the rest of the program.
type paneHooks struct {
	wake  func()              // asks for a frame; never blocks
	show  func()              // asks for one, and may paint it at once
	began func()              // called once, when the agent has written some text
	ended func(err error)     // called once, when the agent's terminal has ended
	event func(ev term.Event) // what the program asked for besides drawing
}

// newPane makes a pane with an empty screen. What is written to it waits until
// a terminal is attached.
func newPane(ctx context.Context, tasks *taskGroup, priority *inputPriority, id broker.SessionID, o term.Options, hooks paneHooks) (*pane, error) {
	p := &pane{
		id:       id,
		queue:    newInputQueue(),
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
	p.screen = screen
	return p, nil
}

// attach connects the pane to an agent's terminal, which it owns from then on.
// On a pane that was closed meanwhile it closes the terminal.
func (p *pane) attach(t broker.Terminal) error {
	p.mu.Lock()
	if p.ctx.Err() != nil || p.terminal != nil {
		p.mu.Unlock()
		return errors.Join(errors.New("attach: the tab is closed"), t.Close())
	}
	p.terminal = t
	p.mu.Unlock()
	signal(p.resized)
	read := func() { p.hooks.ended(p.read(t)) }
	if !p.tasks.start(read) || !p.tasks.start(func() { p.write(t) }) || !p.tasks.start(func() { p.resize(t) }) {
		p.close()
	}
	return nil
}

// close detaches from the terminal and ends the pane's goroutines; it does not
// wait for them, the group does. The screen keeps its last picture.
func (p *pane) close() {
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
func (p *pane) read(t broker.Terminal) error {
	p.past = t.History()
	err := t.CopyTo(p)
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

// Write takes output of the agent, on the goroutine that read it, which is not
// the group's, but as dangerous to the person's terminal.
func (p *pane) Write(output []byte) (int, error) {
	if p.visible.Load() {
		p.tasks.run(func() { p.take(output) })
		return len(output), nil
	}
	if !p.priority.yield(p.ctx) {
		return 0, p.ctx.Err()
	}
	begin := time.Now()
	p.tasks.run(func() { p.take(output) })
	if !p.priority.rest(p.ctx, time.Since(begin)) {
		return 0, p.ctx.Err()
	}
	// Has the runtime look whether a key has come, which it does not while
	// a goroutine has more to do all the time.
	runtime.Gosched()
	return len(output), nil
}

// feed gives bytes of the agent to its screen, and the screen's answers back
// to the agent.
func (p *pane) feed(data []byte) {
	p.output.Store(time.Now().UnixNano())
	signal(p.wrote)
	before := p.screen.Generation()
	_, _ = p.screen.Write(data)
	if p.silent() && p.legible() {
		p.drawn.Store(true)
		p.hooks.began()
	}
	if p.visible.Load() && p.screen.Generation() != before {
		p.show()
	}
	p.answer()
}

// answer gives the agent what its screen owes it.
func (p *pane) answer() {
	if replies := p.screen.TakeReplies(); len(replies) > 0 {
		p.queue.putLast(replies)
	}
}

// setColors tells the screen the colors of the person's terminal, and the agent if it
// wants to know.
func (p *pane) setColors(foreground, background term.Color) {
	p.screen.SetColors(foreground, background)
	p.answer()
}

// take tells what an agent wrote in its former life from what it writes now.
func (p *pane) take(output []byte) {
	old := min(p.past, int64(len(output)))
	if old > 0 {
		p.recall(output[:old])
		p.past -= old
	}
	if int(old) < len(output) {
		p.feed(output[old:])
	}
}

// recall gives the screen what an agent that was taken back wrote before. What
// it asked its terminal then was answered then.
func (p *pane) recall(data []byte) {
	p.recalling.Store(true)
	defer p.recalling.Store(false)
	_, _ = p.screen.Write(data)
	p.screen.TakeReplies()
	if p.visible.Load() {
		p.show()
	}
}

// happened passes on what a program asks for besides drawing. Of what it asked
// for in its former life only the title matters.
func (p *pane) happened(ev term.Event) {
	if !p.recalling.Load() || ev.Kind == term.EventTitle {
		p.hooks.event(ev)
	}
}

// lastOutput is when the agent has last written something.
func (p *pane) lastOutput() time.Time { return time.Unix(0, p.output.Load()) }

// silent reports whether the agent has written nothing yet that a person could read.
// The first that many write are questions to their terminal.
func (p *pane) silent() bool { return !p.drawn.Load() }

// legible reports whether there is any text on the screen.
func (p *pane) legible() bool {
	_, rows := p.screen.Size()
	for _, line := range p.screen.Text(max(0, p.screen.LineCount()-rows), rows) {
		if strings.TrimSpace(line) != "" {
			return true
		}
	}
	return false
}

// show asks for a frame. While the program is in the middle of a synchronized
// update that waits for its end, or for the time that it may take.
func (p *pane) show() {
	if !p.screen.Held() {
		p.hooks.show()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	if p.late == nil {
		p.late = time.AfterFunc(holdTime, p.hooks.wake)
	} else {
		p.late.Reset(holdTime)
	}
}

// write sends what the queue holds to the agent, in order.
func (p *pane) write(t broker.Terminal) {
	echo := func() bool { return true } // of what was written last
	for {
		k, ok := p.queue.take(p.ctx)
		if !ok {
			return
		}
		if k.pause > 0 && !p.awaitEcho(echo, k.pause) {
			return
		}
		echo = p.echoOf(k.tail)
		if _, err := t.Write(k.data); err != nil {
			// The reader meets the same end and reports it.
			p.queue.discard()
			return
		}
	}
}

// send types to the agent: at once where it takes what was typed without
// waiting. It reports false when it takes nothing at all.
func (p *pane) send(data []byte) bool {
	p.priority.keyTyped()
	return p.queue.pass(data, p.try)
}

// try types what the agent takes without waiting, and returns how many bytes
// that was. An error is met again by the goroutine that writes the rest.
func (p *pane) try(data []byte) int {
	p.mu.Lock()
	t := p.terminal
	p.mu.Unlock()
	if t == nil {
		return 0
	}
	n, _ := t.TryWrite(data)
	return n
}

// setSize says how large the pane shall be. The screen and the agent follow at
// once when the last change is some time ago, and otherwise a little later,
// always with the size that was asked for last.
func (p *pane) setSize(cols, rows int) {
	p.mu.Lock()
	same := p.cols == cols && p.rows == rows
	p.cols, p.rows = cols, rows
	attached := p.terminal != nil
	p.mu.Unlock()
	if same {
		return
	}
	if !attached {
		p.screen.Resize(cols, rows)
		return
	}
	signal(p.resized)
}

// resize follows setSize.
func (p *pane) resize(t broker.Terminal) {
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
		p.screen.Resize(want[0], want[1])
		p.answer() // it may have asked for a report
		if p.visible.Load() {
			p.hooks.wake()
		}
		// An agent that cannot be told of its size now is told with the next
		// change; that its terminal is gone the reader reports.
		_ = t.Resize(p.ctx, want[0], want[1])
		if !sleep(p.ctx, resizeEvery) {
			return
		}
	}
}

// sleep waits for d; it reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
