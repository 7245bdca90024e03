package pane

import (
	"strings"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

const (
	// echoLimit is how long to wait for the echo of one step before the next is typed.
	echoLimit = 3 * time.Second
	// drawLimit is how long to wait, after the echo, until the agent stops drawing.
	drawLimit = time.Second
	// echoEvery is the shortest time between two comparisons of the screen.
	echoEvery = 30 * time.Millisecond
)

// awaitEcho waits until the agent has read the previous step: until the step's echo is on
// the screen and the agent has then written nothing for the pause. Without this wait, a
// busy agent would read a text and the Enter after it at once and treat both as a paste.
// The limits bound the wait for an agent that draws all the time. It reports false when
// the pane was closed.
func (p *Pane) awaitEcho(echo func() bool, pause time.Duration) bool {
	limit := time.NewTimer(echoLimit)
	defer limit.Stop()
	for !echo() {
		if more, open := p.awaitOutput(limit.C); !open {
			return false
		} else if !more {
			break
		}
		if !Sleep(p.ctx, echoEvery) {
			return false
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
func (p *Pane) awaitOutput(limit <-chan time.Time) (more, open bool) {
	select {
	case <-p.wrote:
		return true, true
	case <-limit:
		return false, true
	case <-p.ctx.Done():
		return false, false
	}
}

// echoOf is called before something is typed. It returns a function that reports whether
// the agent has shown it: the tail is on the screen more often than before or, without a
// tail, the agent has written anything since.
func (p *Pane) echoOf(tail string) func() bool {
	if tail == "" {
		since := time.Now()
		return func() bool { return !p.LastOutput().Before(since) }
	}
	before := strings.Count(visible(p.Screen), tail)
	return func() bool { return strings.Count(visible(p.Screen), tail) > before }
}

// tailLength is how many characters at the end of a text are looked for on the screen.
const tailLength = 8

// tailOf returns the end of a text as an agent will show it, without blanks. It is empty
// for a text of several lines, which agents may show abbreviated.
func tailOf(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\x1b[200~"), "\x1b[201~")
	if strings.ContainsAny(text, "\n\x1b") {
		return ""
	}
	r := []rune(withoutBlanks(text))
	return string(r[max(0, len(r)-tailLength):])
}

func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// visible returns the text that a screen shows, without blanks and ends of lines.
func visible(s *term.Screen) string {
	var f term.Frame
	s.Snapshot(&f, 0)
	var b strings.Builder
	for _, line := range f.Lines {
		for _, c := range line.Cells {
			if c.Width > 0 && c.Rune != 0 {
				b.WriteRune(c.Rune)
				b.WriteString(c.Marks)
			}
		}
	}
	return withoutBlanks(b.String())
}
