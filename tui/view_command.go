package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// The prompts of the command line and of a search in copy mode.
const (
	commandPrompt = "> "
	searchPrompt  = "/ "
	searchBack    = "? "
)

// inputRows lays the edited line out for the width of the viewport.
func (m *Model) inputRows() []input.LineRow {
	return m.editedLine().Rows(max(4, m.lay.Viewport.W-view.TextWidth(commandPrompt)-1))
}

// editedLine is the line that keys go to.
func (m *Model) editedLine() *input.Line {
	if m.mode == modeCopy {
		return &m.copying.Line
	}
	return &m.line
}

// drawCommand draws the panel and the command line over the viewport.
func (m *Model) drawCommand(s *view.Scene) {
	panel, at := m.panelRect()
	if m.mode == modeCommand {
		m.drawPanel(s, panel)
	}
	rows := m.inputRows()
	current := 0
	for i, r := range rows {
		if r.Cursor >= 0 {
			current = i
		}
	}
	first := max(0, current-at.H+1)
	box := view.NewSurface(at, m.theme.Input)
	prompt := commandPrompt
	if m.mode == modeCopy {
		prompt = searchPrompt
		if m.copying.Backward {
			prompt = searchBack
		}
	}
	indent := view.TextWidth(prompt)
	for y := 0; y < at.H && first+y < len(rows); y++ {
		row := rows[first+y]
		lead := "  "
		if first+y == 0 {
			lead = prompt
		}
		box.Text(0, y, lead, m.theme.Input)
		box.Sanitized(indent, y, row.Text, m.theme.Input, m.theme.Escape)
		if row.Cursor >= 0 {
			x := min(at.W-1, indent+row.Cursor)
			s.Cursor = &term.Cursor{X: at.X + x, Y: at.Y + y, Visible: true, Shape: term.CursorBar}
		}
	}
	if hidden := len(rows) - at.H; hidden > 0 {
		box.Right(at.W, " "+view.Counted(hidden, "more row"), m.theme.Muted)
	}
	s.Layers = append(s.Layers, box)
}
