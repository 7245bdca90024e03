package pane

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// ResizeEvery is the shortest time between two resizes of one agent's screen, because
// dragging the edge of a window produces hundreds.
const ResizeEvery = 80 * time.Millisecond

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
		p.changed()
		// An error needs no report: the next resize tries again, and when the terminal
		// is gone, the goroutine that reads reports that.
		_ = t.Resize(p.ctx, want[0], want[1])
		if !Sleep(p.ctx, ResizeEvery) {
			return
		}
	}
}
