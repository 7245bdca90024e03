package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
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
		return changesMsg{title: changesTitle(tab, c), lines: changesLines(c), err: err}
	}), nil
}

func changesTitle(tab int, c broker.Changes) string {
	if c.Base == "" {
		return fmt.Sprintf("files of tab %d; its workspace is no repository with a commit", tab)
	}
	return fmt.Sprintf("tab %d: changed since its start at %s", tab, shortID(broker.SessionID(c.Base)))
}

// changesLines is the text as it may be drawn, a line each: first of all what programs
// of this machine would run.
func changesLines(c broker.Changes) []view.Line {
	var out []view.Line
	if dangers := c.Obeyed.Lines(); len(dangers) > 0 {
		out = append(out, view.Line{Head: true, Text: "programs of this machine would run or obey this; look before you use git, an editor or a shell there"})
		for _, line := range dangers {
			out = append(out, view.Line{Text: view.Sanitize(line)})
		}
		out = append(out, view.Line{}, view.Line{Head: true, Text: "all changes"})
	}
	switch {
	case c.Trouble != "":
		return append(out, view.Line{Text: "they cannot be shown: " + view.Sanitize(c.Trouble)})
	case c.Text == "":
		return append(out, view.Line{Text: "nothing has changed"})
	}
	for line := range strings.SplitSeq(strings.TrimRight(c.Text, "\n"), "\n") {
		out = append(out, view.Line{Text: view.Sanitize(line)})
	}
	if c.Cut {
		out = append(out, view.Line{Text: "… the rest is too long to be shown"})
	}
	return out
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
