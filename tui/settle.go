package tui

import "time"

// How long an agent may take to show what was typed into it before the next step
// is typed all the same, and how long it may go on drawing after it has begun.
const (
	echoLimit = 3 * time.Second
	drawLimit = time.Second
)

// settle waits until the agent has taken what was typed last: until it has
// written something since, and then nothing more for the pause. A busy agent reads
// a text and the Enter behind it at once, however long ago they were typed, and
// takes them for a paste. An agent that draws all the time is not waited for
// longer than the limits. It reports false when the pane was closed.
func (p *pane) settle(typed time.Time, pause time.Duration) bool {
	limit := time.NewTimer(echoLimit)
	defer limit.Stop()
	for p.lastOutput().Before(typed) {
		if more, open := p.awaitOutput(limit.C); !open {
			return false
		} else if !more {
			break
		}
	}
	limit.Reset(max(drawLimit, pause))
	quiet := time.NewTimer(pause)
	defer quiet.Stop()
	for {
		select {
		case <-p.wrote:
			quiet.Reset(pause)
		case <-quiet.C:
			return true
		case <-limit.C:
			return true
		case <-p.ctx.Done():
			return false
		}
	}
}

// awaitOutput waits until the agent writes something. It reports whether it did
// before the limit, and whether the pane is still open.
func (p *pane) awaitOutput(limit <-chan time.Time) (more, open bool) {
	select {
	case <-p.wrote:
		return true, true
	case <-limit:
		return false, true
	case <-p.ctx.Done():
		return false, false
	}
}
