package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// maxCopy bounds what a program or a selection may put into the clipboard, in
// bytes.
const maxCopy = 1 << 20

// announce tells a person who may be looking elsewhere that something wants
// them: bell and notification as configured, at most once a second, and never
// for a muted tab.
func (m *Model) announce(t *tab, text string) {
	if t != nil && t.muted || m.o.Notify == "none" {
		return
	}
	if now := m.now(); now.Sub(m.announced) >= announceEvery {
		m.announced = now
		m.sink.request(func(d display) error { return d.Bell() })
		m.notify(t, text)
	}
}

// notify shows a desktop notification, when configured, named by its tab.
func (m *Model) notify(t *tab, text string) {
	if t != nil && t.muted || m.o.Notify != "desktop" {
		return
	}
	title := "ironcurtain-mux"
	if t != nil {
		title += fmt.Sprintf(" tab %d %s", t.session.Tab, sanitize(t.title()))
	}
	text = title + ": " + sanitize(text)
	m.sink.request(func(d display) error { return d.Notify(text) })
}

// onPane judges what a program asked its terminal for. Bells reach the person
// at most once a second; a copy only from the pane that has the focus, where the
// person can have caused it; reads of the clipboard never.
func (m *Model) onPane(msg paneMsg) {
	t := m.tabOf(msg.id)
	if t == nil {
		return
	}
	switch msg.event.Kind {
	case term.EventBell:
		if t != m.current() {
			t.fresh, m.dirty = true, true
		}
		m.announce(t, "bell")
	case term.EventClipboard:
		if t == m.current() && m.mode == modeTerminal && !m.outerLost && m.copyOut(msg.event.Data) {
			m.say(fmt.Sprintf("tab %d copied %d bytes to the clipboard", t.session.Tab, len(msg.event.Data)))
		}
	case term.EventNotification:
		if t != m.current() {
			t.fresh, m.dirty = true, true
			m.announce(t, msg.event.Text)
		}
	}
}

// copyOut puts data into the clipboard of the person's terminal.
func (m *Model) copyOut(data []byte) bool {
	if len(data) == 0 || len(data) > maxCopy {
		return false
	}
	text := string(data)
	m.sink.request(func(d display) error { return d.Copy(text) })
	return true
}
