package pane

import (
	"strings"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// How long an agent may take to show what was typed into it before the next step
// is typed all the same, and how long it may go on drawing after it has begun.
const (
	echoLimit = 3 * time.Second
	drawLimit = time.Second
	echoEvery = 30 * time.Millisecond // the shortest time between two looks at the screen
)

// awaitEcho waits until the agent has taken what was typed last: until its echo has
// come, and then nothing more for the pause. A busy agent reads a text and the
// Enter behind it at once, however long ago they were typed, and takes them for a
// paste. An agent that draws all the time is not waited for longer than the
// limits. It reports false when the pane was closed.
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

// echoOf is called before something is typed; the function it returns tells
// whether the agent has shown it: its tail stands on the screen once more often
// than now or, without a tail, anything was written since.
func (p *Pane) echoOf(tail string) func() bool {
	if tail == "" {
		since := time.Now()
		return func() bool { return !p.LastOutput().Before(since) }
	}
	before := strings.Count(visible(p.Screen), tail)
	return func() bool { return strings.Count(visible(p.Screen), tail) > before }
}

// tailLength is how many characters of the end of a text are looked for.
const tailLength = 8

// tailOf is the end of a text as an agent will show it, without blanks; empty for
// a text of several lines, which agents may show in short.
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

// visible is what a screen shows, without blanks and ends of lines.
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
