package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
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
	return m.editedLine().Rows(max(4, m.lay.Viewport.W-view.TextWidth(commandPrompt)-1))
}

// editedLine returns the line that keys edit: the search of copy mode or the command line.
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
		m.drawMenu(s, panel, m.menu())
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
	prompt := commandPrompt
	if m.mode == modeCopy {
		prompt = searchPrompt
		if m.copying.Backward {
			prompt = searchBack
		}
	}
	indent := view.TextWidth(prompt)
	defer box.Gutter(m.theme.Edge)
	for y := 0; y < at.H && first+y < len(rows); y++ {
		row := rows[first+y]
		if first+y == 0 {
			box.Text(0, y, prompt, m.theme.Title)
		}
		box.Sanitized(indent, y, row.Text, m.theme.Body, m.theme.Escape)
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

// drawDeciding draws what one key decides, in the place of the command line.
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
	} else if all := m.menu(); len(all) > 0 {
		want = min(menuRows, max(2, len(all)))
	} else if rows := m.prefixQuestion(); len(rows) > 0 {
		want = max(2, len(rows))
	}
	l := m.lay
	message, _ := m.messageRows()
	l.Viewport.H -= len(message)
	return l.Overlay(want, len(m.inputRows()))
}

// panelHasMore reports whether the item in the panel has more rows than the panel shows.
func (m *Model) panelHasMore() bool {
	it := m.approvals.Current()
	panel, _ := m.panelRect()
	return it != nil && len(it.Body.Rows) > m.panelRows(panel)
}

// panelRows returns how many rows of a call a panel of a size shows.
func (m *Model) panelRows(at view.Rect) int {
	if m.phraseNote() != "" && at.H > panel.LeastForNote {
		return at.H - 2
	}
	return at.H - 1
}

// phraseNote says what the phrase in the title of the panel is for, the first time that it is there;
// empty when that was said, or when there is no room for it.
func (m *Model) phraseNote() string {
	if !m.tells() || m.o.Seen.Phrase || m.o.Phrase == "" {
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

// ensureBody lays the item out for the present width; a large item later, in a command.
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
		return laidOutMsg{call.ID, panel.LayBody(call, width)}
	}))
}

// onLaid sets the rows of a large item.
func (m *Model) onLaid(msg laidOutMsg) {
	if m.approvals.LaidOut(msg.id, msg.body) {
		m.dirty = true
	}
}

// drawPanel draws the current call, when there is one and room for it.
func (m *Model) drawPanel(s *view.Scene, at view.Rect) {
	it := m.approvals.Current()
	if it == nil || at.H < 2 {
		m.approvals.Hide()
		return
	}
	m.ensureBody(it)
	note := m.phraseNote()
	if note != "" && at.H > panel.LeastForNote && m.explaining.IsZero() {
		m.explaining = m.now()
	}
	drawn, report := m.approvals.Draw(at, panel.Look{Theme: m.theme, Phrase: m.o.Phrase, Note: note, Now: m.now(), Seq: m.seq})
	s.Layers, s.Report = append(s.Layers, drawn), s.Report || report
}

// drawPrefixQuestion draws the question of the first start in the place of a menu.
func (m *Model) drawPrefixQuestion(s *view.Scene, at view.Rect) {
	rows := m.prefixQuestion()
	if len(rows) == 0 || at.H < len(rows) {
		return
	}
	if m.asking.IsZero() {
		m.asking = m.now()
	}
	box := view.NewSurface(at, m.theme.Body)
	for y, row := range rows {
		box.Text(2, y, row, m.theme.Muted)
	}
	s.Layers = append(s.Layers, box)
}

// menuRows is how many commands the menu shows.
const menuRows = 8

// menu returns the commands that what is typed may become, while the name of a command is typed:
// those that begin with it, then those that have it in their name or, when it is longer, in their
// help. A call that waits needs the room.
func (m *Model) menu() []command {
	typed := input.TextOf(m.line.Pieces)
	word, is := strings.CutPrefix(strings.ToLower(typed), "/")
	if m.mode != modeCommand || m.question != nil || m.approvals.Current() != nil || !is || strings.ContainsAny(word, "/ \n") {
		return nil
	}
	var begin, inside, about []command
	for _, c := range commandTable() {
		switch {
		case strings.HasPrefix(c.name, word):
			begin = append(begin, c)
		case strings.Contains(c.name, word):
			inside = append(inside, c)
		case len(word) > 2 && strings.Contains(strings.ToLower(c.help), word):
			about = append(about, c)
		}
	}
	return append(append(begin, inside...), about...)
}

// menuWidth is how many columns the names and arguments of a menu may take.
const menuWidth = 24

// drawMenu draws the menu above the command line.
func (m *Model) drawMenu(s *view.Scene, at view.Rect, all []command) {
	if len(all) == 0 || at.H == 0 {
		return
	}
	shown, rest := all[:min(len(all), at.H)], ""
	if hidden := len(all) - len(shown); hidden > 0 {
		shown, rest = shown[:len(shown)-1], view.Counted(hidden+1, "more command")
	}
	width := 0
	for _, c := range shown {
		width = min(max(width, view.TextWidth(c.usage())), menuWidth, at.W/2)
	}
	box := view.NewSurface(at, m.theme.Body)
	first := max(0, at.H-len(all))
	for i, c := range shown {
		box.Text(3, first+i, view.Clip(c.usage(), width), m.theme.Label)
		box.Text(width+5, first+i, view.Clip(c.help, max(0, at.W-width-6)), m.theme.Muted)
	}
	box.Text(3, at.H-1, rest, m.theme.Muted)
	box.Gutter(m.theme.Edge)
	s.Layers = append(s.Layers, box)
}
