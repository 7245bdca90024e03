package tui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// showInfo puts a message into the status line.
func (m *Model) showInfo(text string) { m.say(view.Message{Text: text}) }

// showAbout shows a message that is true while a call waits.
func (m *Model) showAbout(id, text string) { m.say(view.Message{Text: text, About: id}) }

// showSuccess says that something has succeeded.
func (m *Model) showSuccess(text string) { m.say(view.Message{Text: text, Severity: view.Success}) }

// showError shows an error in one line, with its hint.
func (m *Model) showError(err error) {
	msg := view.Message{Text: explain(err), Severity: view.Failure}
	if errors.Is(err, panel.ErrNothing) {
		msg.About = aboutNothing
	}
	m.say(msg)
}

// say puts a message into the status line. A message while a key is handled is the answer to that key.
func (m *Model) say(msg view.Message) {
	msg.Answer = msg.Answer || m.answering
	m.messages.Put(msg, m.now())
	m.dirty = true
}

// said returns the message that the status line shows now.
func (m *Model) said() view.Message { return m.messages.Shown(m.now()) }

// errStay keeps the command on the line without a message: the person continues it when the
// result of a request is shown.
var errStay = errors.New("not yet")

// explain turns an error into one sanitized line: the error and its hint.
func explain(err error) string {
	shown := text.Drawable(strings.ReplaceAll(err.Error(), "\n", "; ")) // errors.Join puts a line end between errors
	if next := fault.Hint(err); next != "" {
		shown += " (" + text.Drawable(next) + ")"
	}
	return shown
}

// drawStatus draws the status line: on the right the number of waiting calls, the notices
// and the usage, on the left the newest message or, without one, hints.
func (m *Model) drawStatus() *view.Surface {
	s := view.NewSurface(m.lay.Status, m.theme.Body)
	end := s.At.W
	if badge := m.badge(); badge != "" {
		end = s.Right(end, badge, m.theme.Attention)
	}
	text, style := m.statusText()
	message, hints := m.message(), m.hints()
	if above, last := m.messageRows(); last != "" {
		text, hints, message = last, []string{last}, !m.listsPrefix() // notices matter more than the rest of the keys after the prefix
	} else if len(above) > 0 {
		text, style, message = strings.Join(hints, " · "), m.theme.Muted, false
	}
	notices := m.notices()
	free := end - view.TextWidth(text) - messageGap
	for _, notice := range notices {
		free -= min(view.TextWidth(notice)+2, mostNotice)
	}
	if label, style := m.spent(); label != "" && view.TextWidth(label) <= free {
		end = s.Right(end, label, style)
	}
	for _, notice := range notices {
		label := " " + notice + " "
		need := view.TextWidth(text) + messageGap
		if !message {
			need = min(need, end/2)
		}
		if room := end - need; view.TextWidth(label) > room && room >= leastNotice {
			label = " " + view.ClipWords(notice, room-2) + " "
		}
		if view.TextWidth(label) <= end-need {
			end = s.Right(end, label, m.theme.Notice)
		}
	}
	if message {
		text = view.ClipWords(text, end-1)
	} else {
		text = view.FitHints(hints, end-2)
	}
	x := s.Text(1, 0, text, style)
	if end == s.At.W {
		end++ // the line reaches the edge
	}
	s.Line(0, x, end, m.theme.Border)
	if message {
		s.Gutter(m.messageLine())
	}
	return s
}

// messageGap is how many columns beside the text stay free: one before it, and after it a blank and a
// line, which separate it from a notice.
const messageGap = 3

// message reports whether the status line shows a question, a message or the keys after the prefix,
// and not hints.
func (m *Model) message() bool { return m.question != nil || m.said().Text != "" || m.prefixed }

// listsPrefix reports whether the status line shows the keys after the prefix.
func (m *Model) listsPrefix() bool { return m.prefixed && m.question == nil && m.said().Text == "" }

// maxMoreRows is how many rows above the status line a long message may take.
const maxMoreRows = 3

// messageRows lays out a message that does not fit the status line: the rows above the line and, when
// these are too few, the rest for the line itself. A message that fits has no rows.
func (m *Model) messageRows() (above []string, last string) {
	leave := 2 // rows: one of the agent and one of the command line
	if m.mode == modeCommand && len(m.approvals.Items) > 0 {
		leave = 3 // rows: two of the call that waits, and the command line
	}
	room := min(maxMoreRows, m.lay.Viewport.H-leave)
	if !m.message() || room < 1 {
		return nil, "" // laying out hints would not end: they depend on the panel's height, which these rows change
	}
	text, _ := m.statusText()
	if view.TextWidth(text)+2+m.badgeWidth() <= m.cols {
		return nil, ""
	}
	rows := view.WrapWords(text, m.cols-2)
	if m.listsPrefix() {
		rows = view.WrapHints(prefixHints(m.keys)[1:], m.cols-2)
	}
	if len(rows) > room {
		return rows[:room], strings.Join(rows[room:], " ")
	}
	return rows, ""
}

// badge returns the label that says how many calls wait; empty when none does.
func (m *Model) badge() string {
	n := len(m.approvals.Items)
	switch {
	case n == 0:
		return ""
	case m.cols < 40:
		return fmt.Sprintf(" !%d ", n)
	}
	return fmt.Sprintf(" %d waiting ", n)
}

func (m *Model) badgeWidth() int { return view.TextWidth(m.badge()) }

// drawMessage draws a message that is too long for the status line in the rows
// above it.
func (m *Model) drawMessage() *view.Surface {
	rows, _ := m.messageRows()
	if len(rows) == 0 {
		return nil
	}
	_, style := m.statusText()
	at := m.lay.Status
	s := view.NewSurface(view.Rect{X: at.X, Y: at.Y - len(rows), W: at.W, H: len(rows)}, m.theme.Body)
	s.Gutter(m.messageLine())
	for y, row := range rows {
		s.Text(1, y, row, style)
	}
	return s
}

// statusText returns the text and style of the left part of the status line.
func (m *Model) statusText() (string, term.Style) {
	if m.question != nil {
		return "y/n: " + m.question.text, m.theme.Notice
	}
	if said := m.said(); said.Text != "" {
		return said.Text, [...]term.Style{view.Info: m.theme.Body, view.Success: m.theme.Good, view.Failure: m.theme.Bad}[said.Severity]
	}
	if m.listsPrefix() {
		return strings.Join(prefixHints(m.keys), " · "), m.theme.Muted
	}
	return strings.Join(m.hints(), " · "), m.theme.Muted
}

// messageLine returns the style of the line in the gutter of the question or the message.
func (m *Model) messageLine() term.Style {
	switch {
	case m.question != nil:
		return m.theme.Waits
	case m.said().Severity == view.Failure:
		return m.theme.Failed
	}
	return m.theme.Edge
}

// onNotice shows a message of the broker, with the name of its tab. A notice without a text removes
// the message that it is about.
func (m *Model) onNotice(n broker.Notice) {
	about := ""
	if n.About != "" {
		about = string(n.Session) + " " + n.About
	}
	if n.Text == "" {
		m.messages.Drop(about)
		m.dirty = true
		return
	}
	text := text.Drawable(n.Text)
	if t := m.tabOf(n.Session); t != nil {
		text = fmt.Sprintf("%s: %s", t.name(), text)
	}
	m.say(view.Message{Text: text, Urgent: n.Urgent, About: about, Unasked: true})
}
