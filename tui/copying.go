package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runCopy is /copy.
func (m *Model) runCopy(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !t.attached {
		return nil, fault.New("wait until the agent runs", "/copy: there is no output yet")
	}
	m.beginCopy(t)
	return nil, nil
}

// startCopy handles the key that opens copy mode.
func (m *Model) startCopy() tea.Cmd {
	if _, err := m.runCopy(""); err != nil {
		m.showError(err)
	}
	return nil
}

// beginCopy opens copy mode at the lines that are on the screen now.
func (m *Model) beginCopy(t *tab) {
	at := m.focusedRect()
	left, _ := t.origin(at)
	m.copying, m.mode, m.dirty = copymode.Begin(t.pane.Screen, t.topLine(at), left, t.part(at)), modeCopy, true
}

// copiesFrom reports whether copy mode shows the lines of a tab.
func (m *Model) copiesFrom(t *tab) bool {
	return m.mode == modeCopy && m.copying.Screen == t.pane.Screen
}

// copiedTab returns the tab whose lines copy mode shows, or nil when it was closed.
func (m *Model) copiedTab() *tab {
	for _, t := range m.tabs {
		if t.pane.Screen == m.copying.Screen {
			return t
		}
	}
	return nil
}

// leaveCopy leaves copy mode. The tab then shows the agent's newest output.
func (m *Model) leaveCopy() {
	if t := m.copiedTab(); t != nil {
		t.follow()
	}
	m.copying = copymode.State{}
	m.leaveCommand()
}

// onCopyKey handles a key in copy mode.
func (m *Model) onCopyKey(name, typed string) tea.Cmd {
	m.dirty = true
	c, at := &m.copying, m.focusedRect()
	if t := m.copiedTab(); t != nil {
		at = t.part(at)
	}
	switch c.Key(m.keys, name, typed, at) {
	case copymode.Stay:
	case copymode.Leave:
		m.leaveCopy()
	case copymode.Yank:
		m.yank()
	case copymode.Edit:
		t, line := m.copiedTab(), c.Cursor.Line
		m.leaveCopy()
		if t != nil {
			return m.editScrollback(t, line)
		}
	case copymode.NoPrompt:
		m.showInfo("no further prompt; shells mark theirs with OSC 133")
	case copymode.NoQuery:
		m.showError(fault.New("/ searches forward, ? backward", "nothing to search for yet"))
	case copymode.NotFound:
		m.showError(fmt.Errorf("not found: %s", c.Query))
	}
	return nil
}

// yank copies the selection or, without one, the line, and leaves copy mode.
func (m *Model) yank() {
	text := m.copying.Take()
	m.leaveCopy()
	switch {
	case text == "":
		m.showInfo("nothing selected")
	case m.copyOut([]byte(text)):
		m.copied = []byte(text)
		m.showSuccess("copied " + view.Counted(len([]rune(text)), "character"))
	default:
		m.showError(fmt.Errorf("copy: the selection has more than %d bytes", copymode.MaxCopy))
	}
}

// pointAt returns the cell under the mouse, as a column and line of the tab's screen and scrollback.
func (m *Model) pointAt(t *tab, at view.Rect, e keys.Mouse) copymode.Point {
	left, _ := t.origin(at)
	top := t.topLine(at)
	if m.mode == modeCopy {
		left, top = m.copying.Left, m.copying.Top
	}
	return copymode.Point{X: left + e.X - at.X, Line: top + e.Y - at.Y}
}

// runEdit is /edit.
func (m *Model) runEdit(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !t.attached {
		return nil, fault.New("wait until the agent runs", "/edit: there is no output yet")
	}
	return m.editScrollback(t, t.topLine(m.focusedRect())), nil
}

// editScrollback opens all lines of a tab in the person's editor, at the given line. The editor has
// the terminal until it ends; the agents keep running.
func (m *Model) editScrollback(t *tab, line int) tea.Cmd {
	if m.editing {
		return nil
	}
	m.editing = true
	heading := fmt.Sprintf("Output of %s. This is a copy; changes are not kept.", t.name())
	name := fmt.Sprintf("scrollback-%s.txt", t.shortID())
	screen, out, getenv := t.pane.Screen, m.sink, m.o.Getenv
	return m.do(func(ctx context.Context) tea.Msg {
		text, at := copymode.ScrollbackText(screen, heading, line)
		argv, err := copymode.EditorAt(getenv, at)
		if err == nil {
			err = out.Edit(ctx, argv, name, text)
		}
		return answerMsg(func() {
			m.editing, m.dirty = false, true
			if err != nil {
				m.showError(fmt.Errorf("edit: %w", err))
			}
		})
	})
}
