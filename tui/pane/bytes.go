package pane

import (
	"runtime"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// holdTime is how long after output a synchronized update that has not ended is drawn
// anyway. It is a little longer than the screen holds the update back.
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
	p.answering.Lock()
	defer p.answering.Unlock()
	if replies := p.Screen.TakeReplies(); len(replies) > 0 {
		p.Queue.PutLast(replies)
	}
}

// take gives output to the screen. Output from before we attached comes first and is
// replayed.
func (p *Pane) take(output []byte) {
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

// replay gives the screen what an agent wrote before we attached to it. Replies are
// dropped, because the agent's queries were answered at that time.
func (p *Pane) replay(data []byte) {
	p.replaying.Store(true)
	defer p.replaying.Store(false)
	p.answering.Lock() // a change of size must not send them meanwhile
	_, _ = p.Screen.Write(data)
	p.Screen.TakeReplies()
	p.answering.Unlock()
	p.show()
}

// BytesRead returns how many bytes of the agent the screen has been given.
func (p *Pane) BytesRead() int64 { return p.received.Load() }

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
