package view

import (
	"fmt"
	"strings"
	"time"
)

// frame draws what may still change: the paragraph that arrives, the running program, the queue, the
// input, the status. It always leaves some rows of the screen for what was printed.
func (m *model) frame() frame {
	f := frame{cols: m.cols, state: m.state()}
	if m.quitting {
		return f
	}
	area := strings.Split(m.input.area.View(), "\n")
	f.rows = m.live(max(0, m.rows-max(1, m.rows/4)-len(area)-1))
	if c := m.input.area.Cursor(); c != nil {
		f.x, f.y = c.X, c.Y+len(f.rows)
	}
	for _, l := range area {
		f.rows = append(f.rows, own(strings.TrimRight(l, " "), 0))
	}
	if m.rows > 2 {
		f.rows = append(f.rows, m.status())
	}
	return f
}

// live returns at most room rows of what may still change, and of those the last.
func (m *model) live(room int) []row {
	words := m.theirs(m.words.live(m.width()-2, m.rows))
	var calls, below []row
	if m.current != nil {
		calls = m.current.rows(m.width())
	}
	if m.retry != nil {
		left := max(0, time.Until(m.retry.Until)).Round(time.Second)
		again := own(fmt.Sprintf(" asked again in %d s", int(left.Seconds())), alert)
		below = append(below, spread(append(own("  ", 0), drawable(m.retry.Text, muted)...), again, min(m.width(), 100)))
	}
	for i, q := range m.queue {
		if i == 3 && len(m.queue) > 4 {
			below = append(below, own(fmt.Sprintf("  and %d more", len(m.queue)-i), muted))
			break
		}
		q, _, _ = strings.Cut(q[:min(len(q), 4*m.cols)], "\n")
		below = append(below, clip(append(own("  next: ", muted), foreign(whole(q), 0)...), m.width()))
	}
	if m.rows >= 12 {
		below = append(below, nil)
	}
	below = below[:min(len(below), room)]
	room -= len(below)
	if hidden := len(calls) - room; hidden > 0 && room > 2 {
		earlier := own(fmt.Sprintf("    … %d rows above", hidden+1), muted)
		calls = append([]row{calls[0], earlier}, calls[hidden+2:]...)
	}
	calls = calls[max(0, len(calls)-room):]
	words = words[max(0, len(words)-(room-len(calls))):]
	return append(append(words, calls...), below...)
}

// status returns the last row: a hint or what is happening, the model, and how many of its tokens
// are used.
func (m *model) status() row {
	left := own(m.hint, alert)
	switch {
	case m.hint != "":
	case m.stopping:
		left = own("interrupting", alert)
	case m.stop != nil:
		left = own("working, Esc interrupts", muted)
	}
	tokens := ""
	if m.used.Window > 0 {
		tokens = fmt.Sprintf("%s of %s tokens", short(m.used.Tokens), short(m.used.Window))
	}
	right := drawable(m.used.Model, muted)
	if len(right) > 0 && tokens != "" {
		right = append(right, own(" · ", muted)...)
	}
	right = append(right, own(tokens, muted)...)
	width := m.width()
	if columns(left...)+columns(right...)+1 > width {
		right = own(strings.NewReplacer(" of ", "/", " tokens", "").Replace(tokens), muted)
	}
	if columns(left...)+columns(right...)+1 > width {
		right = nil
	}
	return trim(spread(left, right, width))
}

// short formats a number of tokens.
func short(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}
