package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// helpLine is one line of the help screen.
type helpLine struct {
	key  string // or empty: a heading or plain text
	text string
	head bool
}

// openHelp shows the keys and commands, all of them taken from the registries.
func (m *Model) openHelp() {
	m.showHelp("keys and commands", m.helpText())
}

func (m *Model) showHelp(title string, lines []helpLine) {
	m.helpTitle, m.helpLines, m.following = title, lines, following{}
	m.mode, m.help, m.flash, m.dirty = modeHelp, viewport.New(), flash{}, true // the line below says how to leave
}

// helpText writes the help screen.
func (m *Model) helpText() []helpLine {
	var out []helpLine
	for _, line := range m.o.Intro {
		out = append(out, helpLine{text: view.Sanitize(line)})
	}
	var last input.Place
	listed := false
	for _, b := range m.keys.Bindings() {
		if len(b.Keys()) == 0 || b.Place == input.PlacePrefix && m.keys.Prefix == "" {
			continue
		}
		if !listed && b.Place != input.PlaceTerminal {
			out, listed = append(out, commandLines()...), true
		}
		if b.Place != last {
			out = append(out, helpLine{text: string(b.Place), head: true})
			last = b.Place
		}
		out = append(out, helpLine{key: bindingKeys(b), text: b.Help().Desc})
	}
	out = append(out, helpLine{text: "marks in the tab bar", head: true})
	for _, m := range view.TabMarks() {
		out = append(out, helpLine{key: m.Mark, text: m.Says})
	}
	return out
}

// commandLines are the commands, which people look for before any but the first keys.
func commandLines() []helpLine {
	out := []helpLine{{text: "commands", head: true}}
	for _, c := range commandTable() {
		out = append(out, helpLine{key: strings.TrimSpace("/" + c.name + " " + c.args), text: c.help})
	}
	return append(out, helpLine{key: "//text", text: "send /text to the agent"})
}

// bindingKeys names the keys of a binding; nine digits become one.
func bindingKeys(b input.Binding) string {
	var out []string
	names := b.Keys()
	digits := len(names) == 9
	for i, k := range names {
		out = append(out, input.DisplayKey(k))
		digits = digits && strings.TrimSuffix(k, fmt.Sprint(i+1)) == strings.TrimSuffix(names[0], "1") && k != ""
	}
	if digits {
		return out[0] + "…9"
	}
	return strings.Join(out, " ")
}

// onHelpKey is a key in the help screen.
func (m *Model) onHelpKey(name string) tea.Cmd {
	m.dirty = true
	m.layHelp()
	if m.following.id != "" && m.keys.At(input.PlaceStarting, name) == input.ActLog {
		m.leaveCommand()
		return nil
	}
	switch m.keys.At(input.PlaceHelp, name) {
	case input.ActHelpDown:
		m.help.ScrollDown(1)
	case input.ActHelpUp:
		m.help.ScrollUp(1)
	case input.ActHelpPage:
		m.help.PageDown()
	case input.ActHelpPageUp:
		m.help.PageUp()
	case input.ActLeave:
		m.leaveCommand()
	}
	return nil
}

// helpRow is a row of the help screen, laid out for the width.
type helpRow struct {
	left, right string
	indent      int
	head        bool
}

// helpRows lays the help text out: keys in a column of their own where there
// is room, else above what they do.
func (m *Model) helpRows() []helpRow {
	width := max(1, m.lay.Viewport.W-2)
	column := 26
	if width < 50 {
		column = 0
	}
	var out []helpRow
	for _, l := range m.helpLines {
		switch {
		case l.key == "":
			for _, row := range view.WrapWords(l.text, width) {
				out = append(out, helpRow{left: row, head: l.head})
			}
		case column == 0 || view.TextWidth(l.key) > column-2:
			for _, row := range view.Wrap(l.key, width) {
				out = append(out, helpRow{left: row})
			}
			for _, row := range view.WrapWords(l.text, max(1, width-max(2, column))) {
				out = append(out, helpRow{right: row, indent: max(2, column)})
			}
		default:
			rows := view.WrapWords(l.text, width-column)
			out = append(out, helpRow{left: l.key, right: rows[0], indent: column})
			for _, row := range rows[1:] {
				out = append(out, helpRow{right: row, indent: column})
			}
		}
	}
	return out
}

// layHelp lays the help text out for the present size, below the title, and keeps
// the first row on the screen where that is possible.
func (m *Model) layHelp() []helpRow {
	rows := m.helpRows()
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = row.left + row.right
	}
	m.help.SetWidth(m.lay.Viewport.W)
	m.help.SetHeight(m.lay.Viewport.H - 1)
	m.help.SetContentLines(lines)
	return rows
}

// drawHelp draws the help screen over the viewport.
func (m *Model) drawHelp() *view.Surface {
	s := view.NewSurface(m.lay.Viewport, m.theme.Body)
	rows := m.layHelp()
	first := m.help.YOffset()
	last := first + m.help.VisibleLineCount()
	s.Fill(0, m.theme.Title)
	title := m.helpTitle
	if below := len(rows) - last; below > 0 {
		title += fmt.Sprintf(" · %d more ↓", below)
	}
	s.Text(1, 0, view.Clip(title, s.At.W-1), m.theme.Title)
	for y, row := range rows[first:last] {
		left, right := m.theme.Label, m.theme.Body
		if row.head {
			left = m.theme.Body
			left.Attr |= term.Bold
		}
		s.Text(1, 1+y, row.left, left)
		s.Text(1+row.indent, 1+y, row.right, right)
	}
	return s
}

// runHelp is /help.
func (m *Model) runHelp(string) (tea.Cmd, error) {
	m.openHelp()
	return nil, nil
}
