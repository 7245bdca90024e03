package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// margin returns the cells that fill a pane beyond its tab's last column and row: dots while the
// tab has the size of another window, and nothing while it is about to have the size of this one.
func (m *Model) margin(t *tab) term.Cell {
	if t.pane.HasSize() {
		return term.Cell{}
	}
	return term.Cell{Rune: '·', Width: 1, Style: m.theme.Border}
}

// cropped reports whether a tab has more cells than a part of the window.
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

// origin returns which cell of the tab's screen comes first in a pane. While the view is
// scrolled, only the column counts.
func (t *tab) origin(at view.Rect) (x, y int) {
	cols, rows := t.pane.Screen.Size()
	crop := t.crop
	crop.Panned = crop.Panned || t.scrolled
	return crop.Origin(cols, rows, t.pane.Screen.Cursor(), at)
}

// follow makes the view follow the output and the cursor.
func (t *tab) follow() { t.scrolled, t.crop = false, view.Crop{} }

// runPan is /pan [left|right|up|down].
func (m *Model) runPan(direction string) (tea.Cmd, error) {
	if err := m.pan(direction); err != nil {
		return nil, err
	}
	m.leaveCommand()
	return nil, nil
}

// pan moves the part of a larger tab that is shown by half of its size; without a direction it
// follows the cursor again.
func (m *Model) pan(direction string) error {
	t, at := m.current(), m.focusedRect()
	if t == nil || !t.cropped(at) {
		return fault.New("a tab that is larger than its part of this window can be panned", "/pan: nothing of this tab is hidden")
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
		return fmt.Errorf("/pan %s: takes left, right, up or down", text.Drawable(direction))
	}
	t.crop = view.Crop{Panned: true, X: x, Y: y}
	t.crop.X, t.crop.Y = t.origin(at)
	return nil
}
