package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Bounds of the toasts.
const (
	toastTime = 12 * time.Second
	maxToasts = 3
	toastRows = 4 // of one toast; what is longer is counted
)

// toast tells of a call that was let through because the person ordered it, or of a copy
// that waits for their word. It
// never takes the focus, and is told apart from what an agent paints by its
// place over the viewport's corner and by the phrase.
type toast struct {
	parts []string // each on rows of its own; sanitized
	more  string   // the command that shows what has no room, or that it asks for
	until time.Time
}

// onAutoApproval shows a toast for a call that was let through.
func (m *Model) onAutoApproval(a broker.AutoApproval) tea.Cmd {
	parts := []string{
		fmt.Sprintf("approved automatically: #%d %s/%s in tab %d · /undo shows it", a.Call.Number, view.Sanitize(a.Call.Server), view.Sanitize(a.Call.Tool), a.Call.Tab),
		fmt.Sprintf("receipt %d: “%s”", a.Receipt, view.Sanitize(a.Quote)),
	}
	if a.Call.Effect != nil {
		parts = append(parts, view.Sanitize(a.Call.Effect.Summary))
	}
	return m.addToast(toast{parts: parts, more: "/undo"})
}

// addToast shows a toast, in the place of the oldest when there are too many.
func (m *Model) addToast(t toast) tea.Cmd {
	t.until = m.now().Add(toastTime)
	m.toasts = append(m.freshToasts(), t)
	if len(m.toasts) > maxToasts {
		m.toasts = m.toasts[1:]
	}
	m.dirty = true
	return m.tick()
}

// freshToasts are the toasts whose time is not over.
func (m *Model) freshToasts() []toast {
	var fresh []toast
	for _, t := range m.toasts {
		if m.now().Before(t.until) {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// drawToasts draws the toasts over the top of the viewport, below each other. On
// a small screen each is one row.
func (m *Model) drawToasts(s *view.Scene) {
	y, v := m.lay.Viewport.Y, m.lay.Viewport
	limit := toastRows
	if v.H < 12 {
		limit = 1
	}
	for _, t := range m.freshToasts() {
		width := min(v.W, 76)
		rows := t.rows(max(1, width-2), limit)
		h := min(len(rows), v.Y+v.H-y-1)
		if h < 1 {
			return
		}
		box := view.NewSurface(view.Rect{X: v.X + v.W - width, Y: y, W: width, H: h}, m.theme.Good)
		for i := range h {
			box.Sanitized(1, i, rows[i], m.theme.Good, m.theme.Escape)
		}
		s.Layers = append(s.Layers, box)
		y += h
	}
}

// rows lays a toast out on at most limit rows; what does not fit is counted.
func (t toast) rows(width, limit int) []string {
	if limit == 1 {
		return []string{view.Clip(t.parts[0], width)}
	}
	var rows []string
	for _, p := range t.parts {
		rows = append(rows, view.Wrap(p, width)...)
	}
	if more := len(rows) - limit; more > 0 {
		rows = append(rows[:limit:limit], "… "+view.Counted(more, "more row")+": "+t.more)
	}
	return rows
}
