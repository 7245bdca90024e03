package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runDiff is /diff.
func (m *Model) runDiff(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, &hinted{errors.New("there is no tab whose workspace could be shown"), "/new opens one"}
	}
	id, tab := t.session.ID, t.session.Tab
	m.showHelp(lookingTitle, []view.Line{{Text: "looking at the workspace"}})
	return m.do(func(ctx context.Context) tea.Msg {
		c, err := m.api.Changes(ctx, id)
		return changesMsg{title: changesTitle(tab, c), lines: panel.ChangesLines(c), err: err}
	}), nil
}

func changesTitle(tab int, c broker.Changes) string {
	if c.Base == "" {
		return fmt.Sprintf("files of tab %d; its workspace is no repository with a commit", tab)
	}
	return fmt.Sprintf("tab %d: changed since its start at %s", tab, shortID(broker.SessionID(c.Base)))
}

// lookingTitle stands above the list until the changes are known.
const lookingTitle = "changes"

// onChanges shows the changes in the list that was opened for them, unless it was
// closed meanwhile.
func (m *Model) onChanges(msg changesMsg) {
	if m.mode != modeHelp || m.help.Title != lookingTitle {
		return
	}
	if msg.err != nil {
		m.leaveCommand()
		m.showError(msg.err)
		return
	}
	m.showHelp(msg.title, msg.lines)
}
