package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// dragState is the state of a selection with the mouse.
type dragState struct {
	active bool
	moved  bool           // something is selected
	tab    *tab           // in which the selection began
	from   copymode.Point // where it began
}

// clicks counts presses of the left button on the same cell in quick succession.
type clicks struct {
	at    copymode.Point
	last  time.Time
	times int
}

// betweenClicks is the longest time between two clicks of a double click.
const betweenClicks = 400 * time.Millisecond

// press counts a press, and returns how often the button was pressed there.
func (c *clicks) press(at copymode.Point, now time.Time) int {
	if at != c.at || now.Sub(c.last) > betweenClicks {
		c.times = 0
	}
	c.at, c.last, c.times = at, now, c.times+1
	return c.times
}

// onMouse handles a mouse event by what is under the mouse: a tab of the bar, the approval panel, a
// program that asked for the mouse, or the scrollback.
func (m *Model) onMouse(ev keys.Event) tea.Cmd {
	e := ev.Mouse
	if m.mode != modeTerminal && e.Action == keys.MousePress {
		m.touch()
	}
	switch {
	case !m.fits:
		return nil
	case m.grabbed != nil && e.Action != keys.MousePress:
		m.onGrabbed(ev)
		return nil
	case m.question != nil || m.mode == modeHere:
		return nil
	case m.grip.Pane != "":
		m.dragBorder(e)
		return nil
	case m.dragging.active:
		return m.onDrag(e)
	case m.lay.Tabs.Contains(e.X, e.Y):
		if e.Action == keys.MousePress && e.Button == keys.ButtonLeft {
			if i := m.tabBar().At(e.X); i >= 0 {
				m.touch()
				m.leaveModes()
				m.show(i)
			}
		}
		return nil
	case m.lay.Status.Contains(e.X, e.Y):
		// A click on the badge opens the panel, as the command key does.
		if e.Action == keys.MousePress && e.Button == keys.ButtonLeft && e.X >= m.cols-m.badgeWidth() {
			m.touch()
			return m.enterCommand()
		}
		return nil
	case m.mode == modeHelp:
		if e.Button == keys.WheelUp || e.Button == keys.WheelDown {
			m.help.Lay(m.listRect())
			m.help.SetYOffset(m.help.YOffset() + input.WheelStep(e))
			m.dirty = true
		}
		return nil
	case m.mode == modePicker, m.mode == modeCommand && m.overPanel(e):
		return nil
	}
	return m.onPaneMouse(ev)
}

// leaveModes closes any mode except the command line, and returns to the agent.
func (m *Model) leaveModes() {
	if m.mode != modeCommand {
		m.leaveCommand()
	}
}

// overPanel reports whether the mouse is over the panel or the command line: the panes below then do
// not get the event. Over the panel, the wheel scrolls the panel.
func (m *Model) overPanel(e keys.Mouse) bool {
	panel, line := m.panelRect()
	if panel.Contains(e.X, e.Y) {
		if e.Action == keys.MousePress && (e.Button == keys.WheelUp || e.Button == keys.WheelDown) {
			m.approvals.Scroll += input.WheelStep(e)
			m.dirty = true
		}
		return true
	}
	return line.Contains(e.X, e.Y)
}

// onPaneMouse gives an event to the pane under it.
func (m *Model) onPaneMouse(ev keys.Event) tea.Cmd {
	if e := ev.Mouse; e.Action == keys.MousePress && e.Button == keys.ButtonLeft && m.grabBorder(e) {
		return nil
	}
	tabs, parts := m.visibleTabs()
	for i, t := range tabs {
		at := parts[i]
		if !at.Contains(ev.Mouse.X, ev.Mouse.Y) {
			continue
		}
		if t != m.current() {
			if ev.Mouse.Action == keys.MousePress && ev.Mouse.Button == keys.ButtonLeft {
				t.pane.Use()
				m.leaveModes()
				m.show(m.indexOf(t.session.ID))
			}
			return nil
		}
		return m.onFocusedMouse(t, at, ev)
	}
	return nil
}

// grabBorder grabs the border under the mouse, if there is one, and reports whether there is. A title
// also belongs to the pane below it, which then gets the focus.
func (m *Model) grabBorder(e keys.Mouse) bool {
	g := m.shownGroup()
	if g == nil {
		return false
	}
	m.grip = g.in(m.lay.Viewport).GripAt(e.X, e.Y)
	if t := m.tabOf(m.grip.Pane); t != nil && m.grip.Side == layout.Up {
		m.touch()
		t.pane.Use()
		if t != m.current() {
			m.leaveModes()
			m.show(m.indexOf(t.session.ID))
		}
	}
	return m.grip.Pane != ""
}

// dragBorder moves the grabbed border to the mouse, until the button is released.
func (m *Model) dragBorder(e keys.Mouse) {
	grip := m.grip
	if e.Action == keys.MouseRelease || e.Button == keys.ButtonNone { // or the release was lost
		m.grip = layout.Grip{}
	}
	if g := m.shownGroup(); g != nil && e.Action == keys.MouseMove && g.panes.Has(grip.Pane) {
		g.set(g.panes.Drag(grip, e.X, e.Y, m.lay.Viewport))
		g.named = ""
		m.arrange()
		m.usePanes()
	}
}

// onFocusedMouse handles a mouse event over the focused pane.
func (m *Model) onFocusedMouse(t *tab, at view.Rect, ev keys.Event) tea.Cmd {
	e := ev.Mouse
	modes, inside := t.pane.Screen.Modes(), t.part(at).Contains(e.X, e.Y)
	wheel := e.Button == keys.WheelUp || e.Button == keys.WheelDown
	toProgram := modes.Wants(e) || wheel && modes.AltScreen && modes.AlternateScroll
	if m.mode == modeTerminal && !t.scrolled && !t.dead() && toProgram && inside {
		if e.Action == keys.MousePress && !e.Button.Wheel() {
			m.grabbed = t
		}
		m.forwardMouse(t, at, ev)
		return nil
	}
	switch {
	case wheel && e.Action == keys.MousePress:
		m.scrollBack(t, at, -input.WheelStep(e))
	case e.Button == keys.ButtonLeft && e.Action == keys.MousePress && t.attached && inside:
		m.dragging = dragState{active: true, tab: t, from: m.pointAt(t, at, e)}
		if times := m.clicks.press(m.dragging.from, m.now()); times > 1 {
			m.dragging.moved = true
			m.beginCopy(t)
			m.copying.SelectWord(m.dragging.from, times > 2)
			m.dirty = true
		}
	case e.Button == keys.ButtonMiddle && e.Action == keys.MousePress && inside && m.mode == modeTerminal && len(m.copied) > 0:
		m.pasteCopied()
	}
	return nil
}

// onGrabbed gives mouse events to the program over which a button was pressed, until the
// button is released, wherever the mouse is. Outside of the pane it reports the nearest
// cell of the pane.
func (m *Model) onGrabbed(ev keys.Event) {
	t := m.grabbed
	if ev.Mouse.Action == keys.MouseRelease || ev.Mouse.Button == keys.ButtonNone { // or the release was lost
		m.grabbed = nil
	}
	tabs, parts := m.visibleTabs()
	if i := slices.Index(tabs, t); i >= 0 && !t.dead() {
		ev.Mouse = input.Clamp(ev.Mouse, t.part(parts[i]))
		m.forwardMouse(t, parts[i], ev)
	}
}

// forwardMouse gives a tab's program an event over its pane.
func (m *Model) forwardMouse(t *tab, at view.Rect, ev keys.Event) {
	x, y := t.origin(at)
	ev.Mouse.X += x - at.X
	ev.Mouse.Y += y - at.Y
	ev.Raw = nil
	m.forward(t, ev)
}

// scrollBack moves the view of a tab by n lines into the past.
func (m *Model) scrollBack(t *tab, at view.Rect, n int) {
	if m.mode == modeCopy {
		m.copying.MoveView(-n)
		m.dirty = true
		return
	}
	t.scrollTo(t.topLine(at)-n, at)
	m.dirty = true
}

// onDrag handles a drag: the first movement opens copy mode and begins a selection, and the release
// copies the selection. After a double or triple click, a word or a line is selected already.
func (m *Model) onDrag(e keys.Mouse) tea.Cmd {
	t := m.current()
	if t == nil || t != m.dragging.tab { // another tab got the focus meanwhile
		m.dragging = dragState{}
		return nil
	}
	at := m.focusedRect()
	switch e.Action {
	case keys.MouseMove:
		to := m.pointAt(t, at, input.Clamp(e, t.part(at)))
		if !m.dragging.moved {
			if to == m.dragging.from {
				return nil
			}
			m.dragging.moved = true
			m.beginCopy(t)
			m.copying.SelectFrom(m.dragging.from)
		}
		m.copying.MoveTo(to)
		m.dirty = true
	case keys.MouseRelease:
		moved := m.dragging.moved
		m.dragging = dragState{}
		switch {
		case moved && m.mode == modeCopy:
			m.yank()
		case !moved && m.mode == modeTerminal && !t.scrolled:
			t.pane.Use()
		}
	}
	return nil
}

// focusedRect returns where the focused pane is shown.
func (m *Model) focusedRect() view.Rect {
	tabs, parts := m.visibleTabs()
	for i, t := range tabs {
		if t == m.current() {
			return parts[i]
		}
	}
	return m.lay.Viewport
}
