package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// drawStrip draws the strip: what waits for the person, over the last rows of the viewport,
// in every mode but that of the command line, which has the panel. It only draws: it takes
// no key and no click, and no pane changes its size. It notes where the strip is, and
// returns nil when there is none.
func (m *Model) drawStrip() *view.Surface {
	m.strip = view.Rect{}
	if m.o.NoStrip || m.mode == modeCommand {
		return nil
	}
	session := ""
	if t := m.current(); t != nil {
		session = t.session.ID
	}
	it, others := m.approvals.InStrip(session)
	area := m.stripArea()
	most := min(m.lay.Viewport.H/3, area.H-1) // a row of the agent stays visible
	if it == nil || most < 1 {
		return nil
	}
	s := panel.Strip{Item: it, Tab: m.whose(it.Call.Session), Others: others}.Draw(area, most, m.theme, m.now())
	if m.hidesCopyCursor(s.At) {
		s.At.Y = area.Y
	}
	m.strip = s.At
	return s
}

// stripArea returns the part of the viewport whose last rows the strip may cover: all but
// the rows of a long message and those of the line of a search. Lists hide such a message.
func (m *Model) stripArea() view.Rect {
	area := m.lay.Viewport
	switch {
	case m.mode == modeCopy && m.copying.Searching, m.mode == modeHelp && m.searched.typing:
		_, line := m.panelRect()
		area.H = line.Y - area.Y
		return area
	case m.mode == modeHelp, m.mode == modePicker, m.mode == modeHere:
		return area
	}
	message, _ := m.messageRows()
	area.H -= len(message)
	return area
}

// hidesCopyCursor reports whether the cursor of copy mode is in a part of the screen. The
// strip then goes to the top of the viewport, so that the person sees what is selected.
func (m *Model) hidesCopyCursor(part view.Rect) bool {
	t := m.current()
	if t == nil || !m.copiesFrom(t) {
		return false
	}
	m.copying.Renumber()
	cur := m.copying.ShownCursor(m.focusedRect())
	return cur != nil && part.Contains(cur.X, cur.Y)
}

// stripRows returns how many rows at the bottom of the viewport the strip takes.
func (m *Model) stripRows() int {
	if m.strip.Y == m.lay.Viewport.Y {
		return 0
	}
	return m.strip.H
}

// listRect returns where a list is drawn: the viewport without the strip.
func (m *Model) listRect() view.Rect {
	at := m.lay.Viewport
	at.H -= m.strip.H
	if m.mode == modeHelp && m.searched.typing {
		at.H -= len(m.inputRows())
	}
	return at
}
