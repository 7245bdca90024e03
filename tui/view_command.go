package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// The prompts of the command line and of a search in copy mode.
const (
	commandPrompt = "> "
	searchPrompt  = "/ "
	searchBack    = "? "
)

// inputRow is one row of the command line: sanitized, and where the cursor is
// in it, or -1.
type inputRow struct {
	text   string
	cursor int
}

// inputRows lays the edited line out for the width of the viewport.
func (m *Model) inputRows() []inputRow {
	line := m.editedLine()
	width := max(4, m.lay.Viewport.W-view.TextWidth(commandPrompt)-1)
	rows := []inputRow{{cursor: -1}}
	used := 0
	for i := 0; ; i++ {
		if i == line.cursor {
			rows[len(rows)-1].cursor = used
		}
		if i == len(line.pieces) {
			return rows
		}
		text := drawnPiece(line.pieces[i])
		w := view.TextWidth(text)
		if used+w > width && used > 0 {
			rows = append(rows, inputRow{cursor: -1})
			used = 0
			if i == line.cursor {
				rows[len(rows)-2].cursor = -1
				rows[len(rows)-1].cursor = 0
			}
		}
		row := &rows[len(rows)-1]
		if line.pieces[i].text == "\n" {
			rows = append(rows, inputRow{cursor: -1})
			used = 0
			continue
		}
		row.text += text
		used += w
	}
}

// drawnPiece is a cluster of the command line as it is drawn.
func drawnPiece(p piece) string {
	if p.text == " " {
		return " "
	}
	return view.Sanitize(p.text)
}

// editedLine is the line that keys go to.
func (m *Model) editedLine() *commandLine {
	if m.mode == modeCopy {
		return &m.copying.line
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
		if r.cursor >= 0 {
			current = i
		}
	}
	first := max(0, current-at.H+1)
	input := view.NewSurface(at, m.theme.Input)
	prompt := commandPrompt
	if m.mode == modeCopy {
		prompt = searchPrompt
		if m.copying.backward {
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
		input.Text(0, y, lead, m.theme.Input)
		input.Sanitized(indent, y, row.text, m.theme.Input, m.theme.Escape)
		if row.cursor >= 0 {
			x := min(at.W-1, indent+row.cursor)
			s.Cursor = &term.Cursor{X: at.X + x, Y: at.Y + y, Visible: true, Shape: term.CursorBar}
		}
	}
	if hidden := len(rows) - at.H; hidden > 0 {
		input.Right(at.W, " "+view.Counted(hidden, "more row"), m.theme.Muted)
	}
	s.Layers = append(s.Layers, input)
}
