package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// frameTime is the least time between two frames.
const frameTime = 15 * time.Millisecond

// frame is what is shown below the scrollback, and is redrawn.
type frame struct {
	rows  []row
	x, y  int // of the cursor
	cols  int
	state string // for the multiplexer, with OSC 7501
}

// screen draws on the terminal, on a goroutine of its own: rows that stay, and the frame below them.
// Bubble Tea's renderer is not used, because it leaves rows of a frame in the scrollback when the
// frame becomes smaller or the terminal rewraps it at another width, and when more rows are printed
// than the screen has.
type screen struct {
	out     io.Writer
	color   bool
	size    func() (cols, rows int)
	wake    chan struct{} // there is something to draw; capacity 1, more values are dropped
	resized chan struct{} // the terminal has another size than the frame; capacity 1, more values are dropped

	mu    sync.Mutex
	above []row // to be printed; grows with the model's text while the terminal accepts no output
	next  frame

	shown frame // what is on the terminal
	lines []string
}

func newScreen(o Options) *screen {
	return &screen{out: o.Out, color: !o.NoColor, size: o.Size, wake: make(chan struct{}, 1), resized: make(chan struct{}, 1)}
}

// draw prints rows and replaces the frame, on the screen's goroutine. It never blocks.
func (s *screen) draw(above []row, f frame) {
	s.mu.Lock()
	s.above, s.next = append(s.above, above...), f
	s.mu.Unlock()
	notify(s.wake)
}

// notify sends a value unless the channel's buffer is full.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Modes of the terminal while the view runs: grapheme clusters, bracketed paste, and unambiguous
// keys.
const (
	modesOn  = "\x1b[?2027h\x1b[?2004h\x1b[>1u"
	modesOff = "\x1b[?2027l\x1b[?2004l\x1b[<1u"
)

// run draws until it is stopped, and then one last time.
func (s *screen) run(stop <-chan struct{}) {
	_, _ = io.WriteString(s.out, modesOn)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for stopped := false; !stopped; {
		select {
		case <-s.wake:
		case <-stop:
			stopped = true
		}
		if b := s.update(stopped); b != "" {
			_, _ = io.WriteString(s.out, b) // if the terminal is gone, the input ends, too
		}
		pause.Reset(frameTime)
		select {
		case <-pause.C:
		case <-stop:
		}
	}
	_, _ = io.WriteString(s.out, modesOff)
}

// update returns the bytes that bring the terminal up to date. If the frame is not of the terminal's
// width, update returns nothing and asks for another frame, unless this is the last one.
func (s *screen) update(last bool) string {
	cols, _ := s.size()
	s.mu.Lock()
	above, f := s.above, s.next
	if f.cols != cols && !last {
		s.mu.Unlock()
		notify(s.resized)
		return ""
	}
	s.above = nil
	s.mu.Unlock()

	var lines []string
	for _, r := range f.rows {
		lines = append(lines, paint(r, s.color))
	}
	var b strings.Builder
	if f.state != s.shown.state {
		fmt.Fprintf(&b, "\x1b]7501;state=%s:app=ironcurtain\x1b\\", f.state)
	}
	if len(above) > 0 || f.x != s.shown.x || f.y != s.shown.y || f.cols != s.shown.cols || !slices.Equal(lines, s.lines) {
		same := 0 // how many rows at the beginning are unchanged; the last row is always redrawn
		if len(above) == 0 && f.cols == s.shown.cols {
			for same < min(len(lines), len(s.lines))-1 && lines[same] == s.lines[same] {
				same++
			}
		}
		b.WriteString("\x1b[?2026h\x1b[?25l")
		move(&b, s.shown.height(same, cols)-s.shown.height(s.shown.y, cols)-s.shown.x/max(cols, 1), 0)
		b.WriteString("\x1b[J")
		for _, r := range above {
			b.WriteString(paint(r, s.color) + "\r\n")
		}
		b.WriteString(strings.Join(lines[same:], "\r\n"))
		move(&b, min(0, f.y-len(lines)+1), f.x)
		b.WriteString("\x1b[?25h\x1b[?2026l")
	}
	s.shown, s.lines = f, lines
	return b.String()
}

// height returns how many rows of a terminal with cols columns the first n rows of the frame
// occupy: the terminal has wrapped rows that are too wide.
func (f frame) height(n, cols int) (h int) {
	for _, r := range f.rows[:min(n, len(f.rows))] {
		h += max(1, (columns(r...)+cols-1)/max(cols, 1))
	}
	return h
}

// move moves the cursor down by rows, or up, and to column x.
func move(b *strings.Builder, rows, x int) {
	if rows > 0 {
		fmt.Fprintf(b, "\x1b[%dB", rows)
	} else if rows < 0 {
		fmt.Fprintf(b, "\x1b[%dA", -rows)
	}
	b.WriteByte('\r')
	if x > 0 {
		fmt.Fprintf(b, "\x1b[%dC", x)
	}
}
