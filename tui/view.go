package tui

import (
	"context"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// refresh publishes a new scene when anything that is drawn has changed.
func (m *Model) refresh() {
	if !m.dirty || m.cols == 0 {
		return
	}
	m.dirty = false
	m.seq++
	s := m.draw()
	s.Seq = m.seq
	m.sink.Publish(s)
}

// draw makes the scene for the present state.
func (m *Model) draw() *view.Scene {
	s := &view.Scene{Cols: m.cols, Rows: m.rows, Focus: -1}
	if !m.fits {
		s.Layers = append(s.Layers, view.TooSmall(m.cols, m.rows, m.theme))
		s.Cursor = &term.Cursor{}
		m.approvals.Hide()
		m.here.Hide()
		return s
	}
	strip := m.drawStrip()
	m.placePanes(s)
	s.Layers = append(s.Layers, m.tabBar().Draw(m.lay.Tabs, m.theme), m.drawStatus())
	if long := m.drawMessage(); long != nil {
		s.Layers = append(s.Layers, long)
	}
	if strip != nil {
		s.Layers = append(s.Layers, strip)
	}
	s.Layers = append(s.Layers, m.toasts.Draw(m.lay.Viewport, m.theme, m.now())...)
	if m.mode == modeHelp {
		s.Layers = append(s.Layers, m.help.Draw(m.listRect(), m.theme))
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modePicker {
		s.Layers = append(s.Layers, m.drawPicker())
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modeHere {
		question, report := m.here.Draw(m.listRect(), m.theme, m.keys, m.seq)
		s.Layers, s.Report, s.Cursor = append(s.Layers, question), s.Report || report, &term.Cursor{}
	}
	if m.mode == modeCommand || m.mode == modeCopy && m.copying.Searching || m.mode == modeHelp && m.searched.typing {
		m.drawCommand(s)
	} else {
		m.approvals.Hide()
	}
	return s
}

// sink is where the model's output goes: the compositor, or a test. Only Edit and Show
// block.
type sink interface {
	// Publish replaces the scene that is drawn.
	Publish(s *view.Scene)
	// Wake requests a frame because the screen of a visible pane has changed.
	Wake()
	// Show does the same as Wake, and may paint the frame before it returns. The goroutine that
	// wrote the change to the screen calls it.
	Show()
	// Request sends something other than cells to the person's terminal: the bell, a notification, a
	// copy to the clipboard.
	Request(r view.Request)
	// Edit shows text in a program that has the terminal to itself until it ends. It blocks, so
	// only commands (tea.Cmd) call it.
	Edit(ctx context.Context, argv []string, name string, text []byte) error
	// Answered passes on the terminal's reply to a query.
	Answered(r keys.Reply)
}

// maxTabTitle is how many columns a tab's title may take in the bar.
const maxTabTitle = 24

// tabBar returns the bar of tabs to draw.
func (m *Model) tabBar() view.TabBar {
	bar := view.TabBar{Active: m.active, Width: m.cols}
	for i := range m.tabs {
		label, style := m.tabLabel(i)
		_, _, urgent := m.tabs[i].mark()
		bar.Tabs = append(bar.Tabs, view.Tab{Label: label, Style: style, Urgent: urgent})
	}
	return bar
}

// tabLabel returns the label and the style of a tab in the bar.
func (m *Model) tabLabel(i int) (string, term.Style) {
	t := m.tabs[i]
	mark, _, urgent := t.mark()
	title := view.Clip(text.Drawable(t.title()), min(maxTabTitle, max(4, m.cols-12)))
	if t.muted || m.muted {
		title += " " + view.MarkMuted
	}
	label := fmt.Sprintf(" %d %s %s ", i+1, mark, title)
	switch {
	case i == m.active && urgent:
		return label, m.theme.Attention
	case i == m.active:
		return label, m.theme.ActiveTab
	case urgent:
		return label, m.theme.Attention
	case t.dead():
		return label, m.theme.Muted
	case t.unseen:
		style := m.theme.Body
		style.Attr |= term.Bold
		return label, style
	}
	return label, m.theme.Body
}

// drawStrip draws the strip, which shows a call that waits, over the last rows of the viewport. It
// does so in every mode except on the command line, which has the panel. The strip handles no key
// and no click, and changes no pane's size. drawStrip notes where the strip is, and returns nil when
// there is none.
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
	s := panel.Strip{Item: it, Tab: m.sessionLabel(it.Call.Session), Others: others}.Draw(area, most, m.theme, m.now())
	if m.hidesCopyCursor(s.At) {
		s.At.Y = area.Y
	}
	m.strip = s.At
	return s
}

// stripArea returns the part of the viewport whose last rows the strip may cover: all rows except
// those of a long message and of the line of a search. A list hides a long message.
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

// hidesCopyCursor reports whether the cursor of copy mode is in a part of the screen. The strip does
// not cover the cursor: it is then drawn at the top of the viewport.
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
