package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// A program's requests that are announced, in addition to notify.Occasions.
const (
	onBell    notify.Occasion = "bell"
	onMessage notify.Occasion = "message"
)

// announce announces an event to a person who may be looking elsewhere, by the bell and the desktop
// as configured, unless the tab is muted. The person gets at most one announcement a second. The
// daemon, and not the view, runs the person's command, once for all views.
func (m *Model) announce(t *tab, what notify.Occasion, message string) {
	asked := what == onBell || what == onMessage || len(m.o.NotifyOn) == 0 || slices.Contains(m.o.NotifyOn, string(what))
	if m.muted || t != nil && t.muted || !asked || m.o.Notify == "none" {
		return
	}
	now := m.now()
	if now.Sub(m.announced) < announceEvery {
		return
	}
	m.announced = now
	m.sink.Request(func(d view.Display) error { return d.Bell() })
	if m.o.Notify != "desktop" {
		return
	}
	title := "ironcurtain-mux"
	if t != nil {
		title += " " + t.name()
	}
	m.sink.Request(func(d view.Display) error { return d.Notify(title, text.Drawable(message)) })
}

// finished runs notify.Settle after an agent became idle. If the agent still is idle, it announces
// to a person who is not looking at the tab that the agent is done.
func (m *Model) finished(msg finishedMsg) {
	t := m.tabOf(msg.id)
	if t == nil || t.changes != msg.changes || m.looksAt(t) {
		return
	}
	if t != m.current() {
		t.unseen, t.done, m.dirty = true, true, true
	}
	m.announce(t, notify.Done, "done")
}

// onPane handles a program's request to its terminal. Bells reach the person at most once a second. A
// copy reaches the clipboard only if the person can have caused the copy, or allows it. Programs
// cannot read the clipboard.
func (m *Model) onPane(msg paneMsg) tea.Cmd {
	t := m.tabOf(msg.id)
	if t == nil {
		return nil
	}
	switch msg.event.Kind {
	case term.EventBell:
		if t != m.current() {
			t.unseen, m.dirty = true, true
		}
		m.announce(t, onBell, "bell")
	case term.EventClipboard:
		return m.onProgramCopies(t, msg)
	case term.EventFault:
		m.showError(fault.New("please report this", "%s: the screen failed and was cleared: %s", t.name(), msg.event.Text))
	case term.EventStatus:
		t.reported, m.dirty = readReport(msg.event.Text), true
	case term.EventCommand, term.EventPrompt:
		m.dirty = true
	case term.EventTitle:
		t.agentTitle = view.Clip(text.Drawable(msg.event.Title), maxAgentTitle)
	case term.EventNotification:
		if t != m.current() {
			t.unseen, m.dirty = true, true
		}
		if !m.looksAt(t) {
			m.announce(t, onMessage, msg.event.Text)
		}
	}
	return nil
}

// looksAt reports whether the person is probably looking at the tab: it is the focused one,
// and the person's terminal has not lost the focus.
func (m *Model) looksAt(t *tab) bool { return t == m.current() && !m.outerLost }
