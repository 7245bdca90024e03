package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runUndo is /undo: nothing can be taken back, but what was let through in this
// tab can be looked at in full.
func (m *Model) runUndo(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fmt.Errorf("there is no tab")
	}
	id := t.session.ID
	return m.do(func(ctx context.Context) tea.Msg {
		list, err := m.api.AutoApprovals(ctx, id)
		return undoMsg{list, err}
	}), nil
}

func (m *Model) onUndo(msg undoMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	if len(msg.list) == 0 {
		m.showInfo("nothing was approved automatically in this tab")
		return
	}
	lines := []view.Line{{Text: "What was done cannot be undone from here. This is what it was, newest first."}}
	for i := len(msg.list) - 1; i >= 0; i-- {
		lines = append(lines, panel.UndoLines(msg.list[i])...)
	}
	m.showHelp("approved automatically", lines)
}
