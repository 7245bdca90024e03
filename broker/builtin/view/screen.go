package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// frameTime is between two frames.
const frameTime = 15 * time.Millisecond

// frame is what stands below the scrollback, and may be drawn anew.
type frame struct {
	rows  []row
	x, y  int // of the cursor
	cols  int
	state string // for the multiplexer, with OSC 7501
}

// screen draws on the terminal, on a goroutine of its own: rows that stay, and below them
// the frame, inline. Bubble Tea's renderer is not used, because it keeps neither promise:
// when a frame becomes smaller, or the terminal wraps it anew in another width, rows of it
// stay above, and what is printed beyond the screen's height takes the frame along.
type screen struct {
	out     io.Writer
	color   bool
	size    func() (cols, rows int)
	wake    chan struct{} // there is something to draw; one that waits covers all
	resized chan struct{} // the terminal has another size than the frame; one that waits covers all

	mu    sync.Mutex
	above []row // grows for as long as the terminal takes nothing, with what the model says
	next  frame

	shown frame // what is on the terminal
	lines []string
}

func newScreen(o Options) *screen {
	return &screen{out: o.Out, color: !o.NoColor, size: o.Size, wake: make(chan struct{}, 1), resized: make(chan struct{}, 1)}
}

// draw has rows printed, and the frame drawn in place of the last one. It never waits.
func (s *screen) draw(above []row, f frame) {
	s.mu.Lock()
	s.above, s.next = append(s.above, above...), f
	s.mu.Unlock()
	notify(s.wake)
}

// notify puts a value into a channel unless one waits there.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Modes of the terminal while the view runs: characters of several parts in one place, bracketed
// paste, and keys that can be told apart.
const (
	modesOn  = "\x1b[?2027h\x1b[?2004h\x1b[>1u"
	modesOff = "\x1b[?2027l\x1b[?2004l\x1b[<1u"
)

// run draws until it is stopped, and then what is there once more.
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

// update returns the bytes that bring the terminal up to date. A frame for another size waits
// for one of the terminal's, unless it is the last.
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
		same := 0 // rows at the beginning that are as they shall be; the last is drawn in any case
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

// height is how many rows of a terminal with cols columns the first n rows of the frame
// take: the terminal has wrapped those that have become too wide.
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
