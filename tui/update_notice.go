package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// onNotice shows a message of the broker, with the number of its tab, or takes messages back.
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
