package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// shownGroup returns the group of the focused tab if all of its panes are shown now, or nil.
func (m *Model) shownGroup() *group {
	t := m.current()
	if t == nil {
		return nil
	}
	if g := m.groupOf(t.session.ID); g != nil && !g.zoom && g.panes.Fits(m.lay.Viewport) {
		return g
	}
	return nil
}

// visibleTabs returns the tabs on the screen with their parts of the viewport.
func (m *Model) visibleTabs() ([]*tab, []view.Rect) {
	t := m.current()
	if t == nil {
		return nil, nil
	}
	g := m.shownGroup()
	if g == nil {
		return []*tab{t}, []view.Rect{m.lay.Viewport}
	}
	var tabs []*tab
	var parts []view.Rect
	for _, p := range g.in(m.lay.Viewport).Panes {
		if x := m.tabOf(p.Pane); x != nil {
			tabs, parts = append(tabs, x), append(parts, p.At)
		}
	}
	return tabs, parts
}

// placePanes puts the visible panes into the scene. A pane shows its agent's screen or, while the
// agent has shown nothing, the steps of its start.
func (m *Model) placePanes(s *view.Scene) {
	tabs, parts := m.visibleTabs()
	if m.o.Safe {
		s.Layers = append(s.Layers, m.drawSafe())
		return
	}
	if len(tabs) == 0 {
		s.Layers = append(s.Layers, m.drawEmpty())
		return
	}
	message, _ := m.messageRows()
	covered := len(message) + m.stripRows()
	for i, t := range tabs {
		at := parts[i]
		if !t.attached || t.blank() {
			s.Layers = append(s.Layers, m.drawStarting(t, at))
			continue
		}
		if t == m.current() && m.mode != modeHelp && m.mode != modePicker && m.mode != modeHere {
			s.Focus = len(s.Panes)
		}
		placed := view.PlacedPane{Screen: t.pane.Screen, At: at, Scrolled: t.scrolled, Top: t.top, Dropped: t.dropped, Crop: t.crop, Margin: m.margin(t), Style: m.theme.Selection}
		if m.copiesFrom(t) {
			m.copying.Renumber()
			placed.Scrolled, placed.Top, placed.Dropped = true, m.copying.Top, m.copying.Dropped
			placed.Crop.X = m.copying.Left
		}
		if t == m.current() {
			if m.copiesFrom(t) {
				placed.Marks = m.copying.Marks(at)
			}
			if m.mode == modeCopy {
				s.Cursor = cmp.Or(m.copying.ShownCursor(at), s.Cursor)
			}
		}
		s.Panes = append(s.Panes, placed)
		if t.dead() || t.trouble != "" || t.session.Trouble != "" {
			s.Layers = append(s.Layers, m.drawEndNote(t, m.above(covered, at)))
		}
	}
	if g := m.shownGroup(); g != nil {
		s.Layers = append(s.Layers, m.drawBorders(g.in(m.lay.Viewport))...)
	} else if intro := m.drawIntro(tabs[0]); intro != nil {
		s.Layers = append(s.Layers, intro)
	}
}

// drawBorders draws the lines between panes, with the title of each pane above it: its tab's number,
// mark and name, and its state.
func (m *Model) drawBorders(places layout.Places) []*view.Surface {
	borders := view.Borders{Lines: places.Lines}
	for _, p := range places.Panes {
		t := m.tabOf(p.Pane)
		if t == nil {
			continue
		}
		mark, _, urgent := t.mark()
		name := view.Clip(text.Drawable(t.title()), maxTabTitle)
		if t.muted || m.muted {
			name += " " + view.MarkMuted
		}
		borders.Titles = append(borders.Titles, view.Title{
			At: p.Title, Rows: p.At.H, Focused: t == m.current(), Urgent: urgent,
			Label: fmt.Sprintf("%d %s %s", m.place(t), mark, name), State: t.stateWords(),
		})
	}
	return borders.Draw(m.theme)
}

// above returns the part of a pane that is not covered when so many rows above the status line are,
// or the whole pane when they cover all of it.
func (m *Model) above(rows int, at view.Rect) view.Rect {
	v := m.lay.Viewport
	if covered := at.Y + at.H - (v.Y + v.H - rows); covered > 0 && covered < at.H {
		at.H -= covered
	}
	return at
}

// smallPane is the largest height, in rows, of a pane whose end note may cover all rows but one.
const smallPane = 6

// drawEndNote draws a note over the last rows of a pane whose agent has ended or cannot be
// reached. The note takes as many rows as it needs, but at most half of the pane or, in a
// small pane, all rows but one.
func (m *Model) drawEndNote(t *tab, at view.Rect) *view.Surface {
	shown := t.endText()
	if t.running() {
		shown = "the agent's terminal is lost: " + t.trouble
		if t.session.Trouble != "" {
			shown = text.Drawable(t.session.Trouble)
		}
	}
	rows := view.WrapWords(shown, max(1, at.W-2))
	if most := max(1, at.H/2, min(smallPane, at.H)-1); len(rows) > most {
		rows = append(rows[:most-1:most-1], view.Clip(strings.Join(rows[most-1:], " "), at.W-2))
	}
	s := view.NewSurface(view.Rect{X: at.X, Y: at.Y + at.H - len(rows), W: at.W, H: len(rows)}, m.theme.Body)
	s.Gutter(m.theme.Failed)
	for y, row := range rows {
		s.Text(1, y, row, m.theme.Bad)
	}
	return s
}

// drawEmpty draws the viewport when there is no tab.
func (m *Model) drawEmpty() *view.Surface {
	s := view.NewSurface(m.lay.Viewport, m.theme.Body)
	lines := []string{"no tab is open", input.DisplayKey(m.keys.CommandKey) + " opens the command line; /new opens a tab, /quit leaves"}
	if m.opening > 0 {
		lines = []string{"opening a tab"}
	}
	y := 0
	for _, line := range lines {
		for _, row := range view.WrapWords(text.Drawable(line), max(1, s.At.W-2)) {
			s.Text(1, y, row, m.theme.Body)
			y++
		}
	}
	return s
}

// intro returns what to try in a tab; the tab may be nil.
func (m *Model) intro(t *tab) []string {
	if t == nil || m.o.Intro == nil {
		return nil
	}
	return m.o.Intro(t.session)
}

// drawIntro draws the intro over the lower rows of the viewport until the person presses the first
// key. It draws nothing while the strip is shown, or when the intro would cover more than a third of
// the rows.
func (m *Model) drawIntro(t *tab) *view.Surface {
	v := m.lay.Viewport
	if m.touched || m.strip.H > 0 || !t.attached || t.blank() || m.mode != modeTerminal || t.dead() {
		return nil
	}
	var rows []string
	for _, line := range m.intro(t) {
		rows = append(rows, view.WrapWords(text.Drawable(line), max(1, v.W-2))...)
	}
	if len(rows) == 0 || len(rows)*3 > v.H {
		return nil
	}
	s := view.NewSurface(view.Rect{X: v.X, Y: v.Y + v.H - len(rows), W: v.W, H: len(rows)}, m.theme.Body)
	s.Gutter(m.theme.Edge)
	for y, row := range rows {
		s.Text(1, y, row, m.theme.Body)
	}
	return s
}

// margin returns the cell that fills a pane beyond its tab's last column and row: a dot while the tab
// has the size of another window, and the zero cell when the tab is about to get this pane's size.
func (m *Model) margin(t *tab) term.Cell {
	if t.pane.HasSize() {
		return term.Cell{}
	}
	return term.Cell{Rune: '·', Width: 1, Style: m.theme.Border}
}

// cropped reports whether a tab is larger than a part of the window.
func (t *tab) cropped(at view.Rect) bool {
	cols, rows := t.pane.Screen.Size()
	return cols > at.W || rows > at.H
}

// part returns the part of a pane that has cells of the tab.
func (t *tab) part(at view.Rect) view.Rect {
	cols, rows := t.pane.Screen.Size()
	at.W, at.H = min(at.W, cols), min(at.H, rows)
	return at
}

// origin returns which cell of the tab's screen is in the first row and column of a pane. While the
// tab is scrolled, only x is meaningful.
func (t *tab) origin(at view.Rect) (x, y int) {
	cols, rows := t.pane.Screen.Size()
	crop := t.crop
	crop.Panned = crop.Panned || t.scrolled
	return crop.Origin(cols, rows, t.pane.Screen.Cursor(), at)
}

// follow makes the view follow the output and the cursor.
func (t *tab) follow() { t.scrolled, t.crop = false, view.Crop{} }

// runFit is /fit. It asks first, because lines that an agent writes into few columns stay narrow.
func (m *Model) runFit(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to fit")
	}
	at, fitted := m.focusedRect(), t.pane
	m.ask(fmt.Sprintf("make this tab %dx%d in every terminal, until somebody uses it in another one or you leave? What its agent writes stays %s wide", at.W, at.H, view.Counted(at.W, "column")), func(*Model) tea.Cmd {
		fitted.Fit()
		return nil
	})
	return nil, nil
}

// runPan is /pan [left|right|up|down].
func (m *Model) runPan(direction string) (tea.Cmd, error) {
	if err := m.pan(direction); err != nil {
		return nil, err
	}
	m.leaveCommand()
	return nil, nil
}

// pan moves the visible part of a larger tab by half of the part's size. Without a direction, the part
// follows the cursor again.
func (m *Model) pan(direction string) error {
	t, at := m.current(), m.focusedRect()
	if t == nil || !t.cropped(at) {
		return fault.New("use it for a tab that is larger than its part of this window", "/pan: the whole tab is shown")
	}
	m.dirty = true
	x, y := t.origin(at)
	switch direction {
	case "":
		t.follow()
		return nil
	case "left":
		x -= max(1, at.W/2)
	case "right":
		x += max(1, at.W/2)
	case "up", "down":
		n := max(1, at.H/2)
		if direction == "up" {
			n = -n
		}
		if t.scrolled {
			m.scrollBack(t, at, -n)
			return nil
		}
		y += n
	default:
		return fmt.Errorf("/pan %s: takes left, right, up or down", direction)
	}
	t.crop = view.Crop{Panned: true, X: x, Y: y}
	t.crop.X, t.crop.Y = t.origin(at)
	return nil
}

// zoomed returns the hint that the person has zoomed the tab: it is shown alone although it is in a
// group.
func (m *Model) zoomed(t *tab) string {
	if g := m.groupOf(t.session.ID); g != nil && g.zoom {
		return fmt.Sprintf("zoomed: 1 of %d", len(g.panes.Panes()))
	}
	return ""
}

// noRoom returns the hint that the tab is shown alone because the window is too small for all panes of
// its group.
func (m *Model) noRoom(t *tab) string {
	if g := m.groupOf(t.session.ID); g != nil && !g.zoom && m.shownGroup() != g {
		return fmt.Sprintf("1 of %d panes: no room for all", len(g.panes.Panes()))
	}
	return ""
}

// shownInPart returns the hint that a tab is larger than its part of this window.
func (m *Model) shownInPart(t *tab) string {
	if !t.attached || !t.cropped(m.focusedRect()) {
		return ""
	}
	cols, rows := t.pane.Screen.Size()
	return fmt.Sprintf("a part of %dx%d", cols, rows)
}

// usePanes notes that the person has arranged the visible panes in this view. That counts as using
// their programs, which get the sizes of these panes.
func (m *Model) usePanes() {
	tabs, _ := m.visibleTabs()
	for _, t := range tabs {
		t.pane.Use()
	}
}
