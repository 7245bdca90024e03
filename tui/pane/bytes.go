package pane

import (
	"runtime"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// holdTime is how long after output a synchronized update that has not ended is drawn
// anyway. It is a little longer than the screen delays the update, so that the frame has it.
const holdTime = 160 * time.Millisecond

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

// Write accepts output of the agent. The goroutine that read the output calls Write. It
// does not belong to p.tasks, so p.tasks.Run restores the person's terminal after a panic.
func (p *Pane) Write(output []byte) (int, error) {
	if p.visible() {
		p.tasks.Run(func() { p.receive(output) })
		return len(output), nil
	}
	if !p.priority.yield(p.ctx) {
		return 0, p.ctx.Err()
	}
	begin := time.Now()
	p.tasks.Run(func() { p.receive(output) })
	if !p.priority.pause(p.ctx, time.Since(begin)) {
		return len(output), p.ctx.Err()
	}
	// Let the scheduler run the goroutine that reads keys, even if this goroutine always
	// has more to do.
	runtime.Gosched()
	return len(output), nil
}

// Feed writes bytes of the agent to its screen, and sends the screen's answers to the
// agent.
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
	p.answering.Lock()
	defer p.answering.Unlock()
	if replies := p.Screen.TakeReplies(); len(replies) > 0 {
		p.Queue.PutLast(replies)
	}
}

// receive writes output to the screen. Output from before we attached comes first and is
// replayed.
func (p *Pane) receive(output []byte) {
	p.received.Add(int64(len(output)))
	old := min(p.past, int64(len(output)))
	if old > 0 {
		p.replay(output[:old])
		p.past -= old
	}
	if int(old) < len(output) {
		p.Feed(output[old:])
	}
}

// replay writes to the screen what an agent wrote before we attached to it. It drops the
// screen's replies, because the agent's queries were answered at that time.
func (p *Pane) replay(data []byte) {
	p.replaying.Store(true)
	defer p.replaying.Store(false)
	p.answering.Lock() // resize must not send these replies
	_, _ = p.Screen.Write(data)
	p.Screen.TakeReplies()
	p.answering.Unlock()
	p.show()
}

// show asks the views that show the pane for a frame. Only the view in which the program was
// used last may paint at once, because a slow terminal of another view must not delay the
// agent. During a synchronized update show waits until the update ends or holdTime is over.
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

// write sends the queued input to the agent, in order.
func (p *Pane) write(t broker.Terminal) {
	echo := func() bool { return true } // reports whether the last step was echoed
	for {
		k, ok := p.Queue.take(p.ctx)
		if !ok {
			return
		}
		if k.pause > 0 && !p.awaitEcho(echo, k.pause) {
			p.Queue.putBack(k, 0)
			return
		}
		echo = p.echoOf(k.tail)
		if n, err := t.Write(k.data); err != nil {
			if p.ctx.Err() != nil { // the pane was closed, perhaps to be saved
				p.Queue.putBack(k, n)
				return
			}
			// The goroutine that reads gets the same error and reports it.
			p.Queue.Discard()
			return
		}
	}
}

// tryWrite writes as many bytes as the agent accepts without blocking, and returns how many. It
// ignores errors, because the goroutine that writes the rest gets the same error.
func (p *Pane) tryWrite(data []byte) int {
	p.mu.Lock()
	t := p.terminal
	p.mu.Unlock()
	if t == nil {
		return 0
	}
	n, _ := t.TryWrite(data)
	return n
}
