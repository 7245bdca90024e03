package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// The prompts of the command line and of a search in copy mode.
const (
	commandPrompt = " > "
	searchPrompt  = " / "
	searchBack    = " ? "
)

// inputRows returns the edited line, laid out for the width of the viewport.
func (m *Model) inputRows() []input.LineRow {
	return m.editedLine().Rows(max(4, m.lay.Viewport.W-view.TextWidth(m.prompt())-1))
}

// editedLine returns the line that keys edit: the line of a search, or the command line.
func (m *Model) editedLine() *input.Line {
	switch m.mode {
	case modeCopy:
		return &m.copying.Line
	case modeHelp:
		return &m.searched.line
	}
	return &m.line
}

// prompt returns the prompt before the line.
func (m *Model) prompt() string {
	switch {
	case m.mode == modeCopy && m.copying.Backward:
		return searchBack
	case m.mode == modeCopy, m.mode == modeHelp:
		return searchPrompt
	}
	if search := m.line.SearchPrompt(m.lay.Viewport.W); search != "" {
		return " " + search
	}
	return commandPrompt
}

// drawCommand draws the panel and the command line over the viewport.
func (m *Model) drawCommand(s *view.Scene) {
	panel, at := m.panelRect()
	if m.mode == modeCommand {
		m.drawPanel(s, panel)
		m.drawMenu(s)
		m.drawPrefixQuestion(s, panel)
	}
	if m.mode == modeCommand && m.approvals.Focused() {
		s.Layers = append(s.Layers, m.drawDeciding(at))
		s.Cursor = &term.Cursor{}
		return
	}
	rows := m.inputRows()
	current := 0
	for i, r := range rows {
		if r.Cursor >= 0 {
			current = i
		}
	}
	first := max(0, current-at.H+1)
	box := view.NewSurface(at, m.theme.Body)
	prompt := m.prompt()
	indent := view.TextWidth(prompt)
	defer box.Gutter(m.theme.Edge)
	for y := 0; y < at.H && first+y < len(rows); y++ {
		row := rows[first+y]
		if first+y == 0 {
			box.Text(0, y, prompt, m.theme.Title)
		}
		box.Sanitized(indent, y, m.editedLine().RowText(row), m.theme.Body, m.theme.Escape)
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

// drawDeciding draws the keys that decide a call, in place of the command line.
func (m *Model) drawDeciding(at view.Rect) *view.Surface {
	box := view.NewSurface(at, m.theme.Body)
	x := 1
	for _, one := range []struct {
		action input.Action
		choice panel.Choice
		does   string
	}{{input.ActApprove, panel.ChooseApprove, "approve"}, {input.ActDeny, panel.ChooseDeny, "deny"}} {
		style := m.theme.Body
		if m.approvals.Choice() == one.choice {
			style = m.theme.Selection
		}
		x = 1 + box.Text(x, 0, " "+strings.TrimSpace(m.keys.KeyFor(input.PlaceDecide, one.action)+" "+one.does)+" ", style)
	}
	return box
}

// panelRect returns where the panel and the command line are drawn.
func (m *Model) panelRect() (panel, line view.Rect) {
	want := 0
	if it := m.approvals.Current(); it != nil && m.mode == modeCommand {
		m.ensureBody(it)
		want = 1 + max(1, len(it.Body.Rows))
		if m.phraseNote() != "" {
			want++
		}
	} else if all, _ := m.menu(); len(all) > 0 {
		want = min(menuRows, max(2, len(all)))
	} else if rows := m.prefixQuestion(); len(rows) > 0 {
		want = max(2, len(rows))
	}
	l := m.lay
	message, _ := m.messageRows()
	l.Viewport.H -= len(message)
	return l.Overlay(want, len(m.inputRows()))
}

// menuRows is how many rows the menu has at most.
const menuRows = 8

// menuRect returns where the menu is drawn: above the command line or, while a call waits, above
// the panel, if there is room. It never takes a row from the panel, or moves it.
func (m *Model) menuRect() view.Rect {
	panel, _ := m.panelRect()
	if m.approvals.Current() == nil {
		return panel
	}
	all, _ := m.menu()
	top := m.lay.Viewport.Y + 1 // a row of the agent stays visible
	if panel.H == 0 || len(all) == 0 || panel.Y <= top {
		return view.Rect{}
	}
	rows := min(menuRows, len(all), panel.Y-top)
	return view.Rect{X: panel.X, Y: panel.Y - rows, W: panel.W, H: rows}
}

// drawMenu draws the menu.
func (m *Model) drawMenu(s *view.Scene) {
	if all, chosen := m.menu(); len(all) > 0 {
		if at := m.menuRect(); at.H > 0 {
			s.Layers = append(s.Layers, menu.Draw(at, all, chosen, m.theme))
		}
	}
}

// drawPrefixQuestion draws the first start's question about a prefix key, in place of a menu.
func (m *Model) drawPrefixQuestion(s *view.Scene, at view.Rect) {
	rows := m.prefixQuestion()
	if len(rows) == 0 || at.H < len(rows) {
		return
	}
	if m.prefixAsked.IsZero() {
		m.prefixAsked = m.now()
	}
	box := view.NewSurface(at, m.theme.Body)
	for y, row := range rows {
		box.Text(2, y, row, m.theme.Muted)
	}
	s.Layers = append(s.Layers, box)
}

// panelHasMore reports whether the item in the panel has more rows than the panel shows.
func (m *Model) panelHasMore() bool {
	it := m.approvals.Current()
	panel, _ := m.panelRect()
	return it != nil && len(it.Body.Rows) > m.panelRows(panel)
}

// panelRows returns how many rows of a call a panel of a size shows.
func (m *Model) panelRows(at view.Rect) int {
	if m.noteIn(at) != "" {
		return at.H - 2
	}
	return at.H - 1
}

// leastForNote is the least height of a panel with a note about the phrase, in rows.
const leastForNote = 7

// noteIn returns the note about the phrase for a panel of a size; empty: no note.
func (m *Model) noteIn(at view.Rect) string {
	if at.H < leastForNote {
		return ""
	}
	return m.phraseNote()
}

// phraseNote returns the note that says what the phrase in the title of the panel is for. It is empty
// when the person has seen the note before, or the terminal is too narrow.
func (m *Model) phraseNote() string {
	if !m.introduces() || m.o.Seen.Phrase || m.o.Phrase == "" {
		return ""
	}
	for _, note := range []string{
		fmt.Sprintf("“%s” is known to this program only: a panel without it was drawn by an agent", m.o.Phrase),
		fmt.Sprintf("only the real panel says “%s”", m.o.Phrase),
	} {
		if view.TextWidth(note) <= m.cols-2 {
			return note
		}
	}
	return ""
}

// panelFits reports whether there is room for a panel with at least one row of text.
func (m *Model) panelFits() bool {
	if !m.fits {
		return false
	}
	panel, _ := m.lay.Overlay(2, 1)
	return panel.H >= 2
}

// ensureBody lays the item out for the present width. A large item is laid out in a command.
func (m *Model) ensureBody(it *panel.Item) {
	width := max(1, m.lay.Viewport.W-2)
	if it.LaidFor(width) {
		return
	}
	call := it.Call
	if it.LayAtOnce(width) {
		return
	}
	m.later = join(m.later, m.do(func(context.Context) tea.Msg {
		body := panel.LayBody(call, width)
		return answerMsg(func() { m.dirty = m.approvals.LaidOut(call.ID, body) || m.dirty })
	}))
}

// drawPanel draws the current call, when there is one and room for it.
func (m *Model) drawPanel(s *view.Scene, at view.Rect) {
	it := m.approvals.Current()
	if it == nil || at.H < 2 {
		m.approvals.Hide()
		return
	}
	m.ensureBody(it)
	note := m.noteIn(at)
	if note != "" && m.phraseShown.IsZero() {
		m.phraseShown = m.now()
	}
	drawn, report := m.approvals.Draw(at, panel.Look{Theme: m.theme, Phrase: m.o.Phrase, Note: note, Now: m.now(), Seq: m.seq})
	s.Layers, s.Report = append(s.Layers, drawn), s.Report || report
}
