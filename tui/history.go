package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// historyLength is how many decisions are shown.
const historyLength = 200

// runHistory is /history: what was decided, by whom, when and how.
func (m *Model) runHistory(string) (tea.Cmd, error) {
	return m.do(func(ctx context.Context) tea.Msg {
		decided, err := m.api.History(ctx, historyLength)
		return historyMsg{decided, err}
	}), nil
}

func (m *Model) onHistory(msg historyMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	var lines []view.Line
	for _, d := range msg.decided {
		lines = append(lines, view.Line{
			Key:  fmt.Sprintf("%s tab %d", d.At.Local().Format(time.TimeOnly), d.Tab),
			Text: panel.DecidedText(d),
		})
	}
	for i := len(m.approvals.Log) - 1; i >= 0; i-- { // of tabs that are closed by now
		if r := m.approvals.Log[i]; m.tabOf(r.Session) == nil {
			lines = append(lines, view.Line{Text: panel.ResolutionText(r.Resolution)})
		}
	}
	if len(lines) == 0 {
		lines = []view.Line{{Text: "nothing was decided yet"}}
	}
	m.showHelp("decisions, newest first", lines)
}
