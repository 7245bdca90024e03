package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
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
		lines = append(lines, undoLines(msg.list[i])...)
	}
	m.showHelp("approved automatically", lines)
}

// undoLines writes down one automatic approval: which words it rests on, what
// was called, and what that did.
func undoLines(a broker.AutoApproval) []view.Line {
	lines := []view.Line{
		{Text: fmt.Sprintf("#%d %s/%s at %s", a.Call.Number, view.Sanitize(a.Call.Server), view.Sanitize(a.Call.Tool), a.At.Local().Format(time.TimeOnly)), Head: true},
		{Key: fmt.Sprintf("receipt %d", a.Receipt), Text: "“" + view.Sanitize(a.Quote) + "”"},
	}
	if a.Model != "" {
		lines = append(lines, view.Line{Key: "confirmed by", Text: view.Sanitize(a.Model)})
	}
	if e := a.Call.Effect; e != nil {
		lines = append(lines, view.Line{Key: "effect", Text: view.Sanitize(e.Summary)})
		for _, l := range e.Lines {
			_, mark := effectRow(l.Kind)
			lines = append(lines, view.Line{Key: "", Text: mark + view.Sanitize(l.Text)})
		}
		if e.More > 0 {
			lines = append(lines, view.Line{Text: "and " + view.Counted(e.More, "more line")})
		}
	}
	fields, err := flatten(a.Call.Arguments)
	if err != nil {
		fields = []field{{"", view.Sanitize(string(a.Call.Arguments))}}
	}
	for _, f := range fields {
		lines = append(lines, view.Line{Key: f.path, Text: f.value})
	}
	return append(lines, view.Line{Key: "rule", Text: view.Sanitize(a.Call.Rule)}, view.Line{Key: "digest", Text: view.Sanitize(a.Call.Digest)})
}
