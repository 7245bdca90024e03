package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runEdit is /edit.
func (m *Model) runEdit(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !t.attached {
		return nil, &hinted{errors.New("nothing to edit"), "wait until the agent runs"}
	}
	return m.editScrollback(t, t.topLine(m.focusedRect().H)), nil
}

// editScrollback opens all lines of a tab in the person's editor, at one of
// them. The editor has the terminal until it ends; the agents run on.
func (m *Model) editScrollback(t *tab, line int) tea.Cmd {
	if m.editing {
		return nil
	}
	m.editing = true
	heading := fmt.Sprintf("What tab %d, %s, has written. It is a copy; changes go nowhere.", t.session.Tab, view.Sanitize(t.title()))
	name := fmt.Sprintf("scrollback-tab%d.txt", t.session.Tab)
	screen, out := t.pane.screen, m.sink
	return m.do(func(ctx context.Context) tea.Msg {
		text, at := copymode.ScrollbackText(screen, heading, line)
		argv, err := copymode.EditorAt(at)
		if err == nil {
			err = out.Edit(ctx, argv, name, text)
		}
		return editedMsg{err}
	})
}

// onEdited notes that the terminal is back.
func (m *Model) onEdited(msg editedMsg) {
	m.editing, m.dirty = false, true
	if msg.err != nil {
		m.showError(fmt.Errorf("edit: %w", msg.err))
	}
}
