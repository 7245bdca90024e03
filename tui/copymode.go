package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// point is a cell of a tab's lines, scrollback included, counted from the
// oldest line.
type point struct{ X, Line int }

// before reports whether p comes before q in reading order.
func (p point) before(q point) bool {
	return p.Line < q.Line || p.Line == q.Line && p.X < q.X
}

// copyState is copy mode: a cursor that moves over the lines of a tab while
// its agent runs on.
type copyState struct {
	tab       *tab
	rows      int    // of the view
	top       int    // line in the first row of the view
	dropped   uint64 // by the screen when the line numbers here were true
	cursor    point
	anchor    point
	selecting bool
	wholeLine bool

	searching bool // a search is being typed into line
	backward  bool
	line      input.Line
	query     string
}

// screen is what the cursor moves over.
func (c *copyState) screen() *term.Screen { return c.tab.pane.screen }

// total is the number of lines there are.
func (c *copyState) total() int { return max(1, c.screen().LineCount()) }

// renumber corrects the line numbers for lines that the scrollback has forgotten
// while the agent ran on.
func (c *copyState) renumber() {
	n := droppedSince(c.screen(), c.dropped)
	c.dropped = c.screen().Dropped()
	if n == 0 {
		return
	}
	for _, p := range []*point{&c.cursor, &c.anchor} {
		if p.Line -= n; p.Line < 0 {
			*p = point{}
		}
	}
	c.top = max(0, c.top-n)
}

// runCopy is /copy.
func (m *Model) runCopy(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !t.attached {
		return nil, &hinted{fmt.Errorf("nothing to copy from"), "wait until the agent runs"}
	}
	m.beginCopy(t)
	return nil, nil
}

// startCopy is the key that opens copy mode.
func (m *Model) startCopy() tea.Cmd {
	if _, err := m.runCopy(""); err != nil {
		m.showError(err)
	}
	return nil
}

// beginCopy opens copy mode over what is seen now.
func (m *Model) beginCopy(t *tab) {
	at := m.focusedRect()
	c := copyState{tab: t, rows: at.H}
	c.top, c.dropped = t.topLine(at.H), t.pane.screen.Dropped()
	cols, rows := t.pane.screen.Size()
	var f term.Frame
	t.pane.screen.Snapshot(&f, 0)
	c.cursor = point{min(f.Cursor.X, max(0, cols-1)), c.total() - rows + f.Cursor.Y}
	if c.cursor.Line >= c.top+c.rows {
		c.cursor.Line = c.top + c.rows - 1
	}
	m.copying, m.mode, m.dirty = c, modeCopy, true
}

// leaveCopy returns to the agent at the end of its output.
func (m *Model) leaveCopy() {
	if t := m.copying.tab; t != nil {
		t.scrolled = false
	}
	m.copying = copyState{}
	m.leaveCommand()
}

// onCopyKey is a key in copy mode.
func (m *Model) onCopyKey(name, text string) tea.Cmd {
	m.dirty = true
	c := &m.copying
	if c.searching {
		m.onSearchKey(name, text)
		return nil
	}
	c.rows = m.focusedRect().H
	c.renumber()
	a := m.keys.At(input.PlaceCopy, name)
	switch a {
	case input.ActLeave:
		if name == "enter" && c.selecting {
			m.yank()
			return nil
		}
		if name == "esc" && c.selecting {
			c.selecting = false
			return nil
		}
		m.leaveCopy()
	case input.ActCopyYank:
		m.yank()
	case input.ActCopyEdit:
		t, line := c.tab, c.cursor.Line
		m.leaveCopy()
		return m.editScrollback(t, line)
	case input.ActCopySearch, input.ActCopySearchB:
		c.searching, c.backward = true, a == input.ActCopySearchB
		c.line = input.Line{}
	case input.ActCopyNext:
		m.search(c.backward)
	case input.ActCopyPrev:
		m.search(!c.backward)
	case input.ActCopyPrompt, input.ActCopyPromptB:
		if !c.toPrompt(a == input.ActCopyPromptB) {
			m.showInfo("no further prompt; shells mark theirs with OSC 133")
		}
	default:
		c.act(a)
	}
	return nil
}

// span is the selection in reading order.
func (c *copyState) span() (from, to point) {
	from, to = c.anchor, c.cursor
	if to.before(from) {
		from, to = to, from
	}
	if c.wholeLine {
		width, _ := c.screen().Size()
		from.X, to.X = 0, max(0, width-1)
	}
	return from, to
}

// selected is the text of the selection. Lines that the screen had wrapped
// are joined again.
func (c *copyState) selected() string {
	from, to := c.span()
	var b strings.Builder
	for i := from.Line; i <= to.Line && b.Len() <= maxCopy; i++ {
		cells, wrapped := c.screen().Line(i)
		lo, hi := 0, len(cells)
		if i == from.Line {
			lo = min(from.X, len(cells))
		}
		if i == to.Line {
			hi = min(to.X+1, len(cells))
		}
		if hi < len(cells) && cells[hi].Width == 0 {
			hi++
		}
		text := view.CellText(cells[lo:max(lo, hi)])
		if i == to.Line || wrapped {
			b.WriteString(text)
		} else {
			b.WriteString(strings.TrimRight(text, " "))
		}
		if i < to.Line && !wrapped {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// yank copies the selection, or without one the line, and leaves copy mode.
func (m *Model) yank() {
	c := &m.copying
	if !c.selecting {
		c.anchor, c.wholeLine = c.cursor, true
	}
	text := c.selected()
	if c.wholeLine {
		text = strings.TrimRight(text, " ")
	}
	m.leaveCopy()
	switch {
	case text == "":
		m.showInfo("nothing selected")
	case m.copyOut([]byte(text)):
		m.showSuccess("copied " + view.Counted(len([]rune(text)), "character"))
	default:
		m.showError(fmt.Errorf("copy: the selection has more than %d bytes", maxCopy))
	}
}

// pointAt is the cell under the mouse.
func (m *Model) pointAt(t *tab, at view.Rect, e keys.Mouse) point {
	top := t.topLine(at.H)
	if m.mode == modeCopy {
		top = m.copying.top
	}
	return point{e.X - at.X, top + e.Y - at.Y}
}

// copyHints is the status line of copy mode.
func (m *Model) copyHints() []string {
	c := &m.copying
	where := fmt.Sprintf("line %d/%d", c.cursor.Line+1, c.total())
	if c.searching {
		return nonEmpty("copy "+where, m.keys.Hint(input.PlaceCommand, input.ActEnter, "searches"), m.keys.Hint(input.PlaceCommand, input.ActLeave, "back"))
	}
	if c.selecting {
		return nonEmpty("copy "+where, m.keys.Hint(input.PlaceCopy, input.ActCopyYank, "copies"), "Esc drops the selection")
	}
	return nonEmpty("copy "+where, m.keys.Hint(input.PlaceCopy, input.ActCopySelect, "selects"), m.keys.Hint(input.PlaceCopy, input.ActCopySearch, "searches"),
		m.keys.Hint(input.PlaceCopy, input.ActCopyEdit, "edits"), m.keys.Hint(input.PlaceCopy, input.ActLeave, "leaves"))
}

// marks are the highlighted cells of the focused pane.
func (m *Model) marks(t *tab, at view.Rect) []view.MarkedRow {
	c := &m.copying
	if m.mode != modeCopy || c.tab != t {
		return nil
	}
	if !c.selecting {
		return m.hits(at)
	}
	var out []view.MarkedRow
	from, to := c.span()
	for line := max(from.Line, c.top); line <= min(to.Line, c.top+at.H-1); line++ {
		row := view.MarkedRow{Y: line - c.top, From: 0, To: at.W}
		if line == from.Line {
			row.From = from.X
		}
		if line == to.Line {
			row.To = to.X + 1
		}
		out = append(out, row)
	}
	return out
}

// copyCursor shows the cursor of copy mode.
func (m *Model) copyCursor(s *view.Scene, at view.Rect) {
	c := &m.copying
	if m.mode != modeCopy || c.searching {
		return
	}
	y := c.cursor.Line - c.top
	if y >= 0 && y < at.H && c.cursor.X < at.W {
		s.Cursor = &term.Cursor{X: at.X + c.cursor.X, Y: at.Y + y, Visible: true, Shape: term.CursorBlock}
	}
}
