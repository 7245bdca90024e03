package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Bounds of the toasts.
const (
	toastTime = 12 * time.Second
	maxToasts = 3
	toastRows = 4 // of one toast; what is longer is counted
)

// toast tells of a call that was let through because the person ordered it. It
// never takes the focus, and is told apart from what an agent paints by its
// place over the viewport's corner and by the phrase.
type toast struct {
	parts []string // each on rows of its own; sanitized
	until time.Time
}

// onAutoApproval shows a toast for a call that was let through.
func (m *Model) onAutoApproval(a broker.AutoApproval) tea.Cmd {
	parts := []string{
		fmt.Sprintf("approved automatically: #%d %s/%s in tab %d · /undo shows it", a.Call.Number, sanitize(a.Call.Server), sanitize(a.Call.Tool), a.Call.Tab),
		fmt.Sprintf("receipt %d: “%s”", a.Receipt, sanitize(a.Quote)),
	}
	if a.Call.Effect != nil {
		parts = append(parts, sanitize(a.Call.Effect.Summary))
	}
	m.toasts = append(m.freshToasts(), toast{parts, m.now().Add(toastTime)})
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
func (m *Model) drawToasts(s *scene) {
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
		box := newSurface(rect{v.X + v.W - width, y, width, h}, m.theme.Good)
		for i := range h {
			m.drawSanitized(box, 1, i, rows[i], m.theme.Good)
		}
		s.Layers = append(s.Layers, box)
		y += h
	}
}

// rows lays a toast out on at most limit rows; what does not fit is counted.
func (t toast) rows(width, limit int) []string {
	if limit == 1 {
		return []string{clip(t.parts[0], width)}
	}
	var rows []string
	for _, p := range t.parts {
		rows = append(rows, wrap(p, width)...)
	}
	if more := len(rows) - limit; more > 0 {
		rows = append(rows[:limit:limit], "… "+counted(more, "more row")+": /undo")
	}
	return rows
}

// runUndo is /undo: nothing can be taken back, but what was let through in this
// tab can be looked at in full.
func (m *Model) runUndo(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fmt.Errorf("there is no tab")
	}
	id := t.session.ID
	return m.do(func(ctx context.Context) tea.Msg {
		list, err := m.api.AutoApprovals(ctx, id)
		return undoMsg{list, err}
	}), nil
}

func (m *Model) onUndo(msg undoMsg) {
	if msg.err != nil {
		m.complain(msg.err)
		return
	}
	if len(msg.list) == 0 {
		m.say("nothing was approved automatically in this tab")
		return
	}
	lines := []helpLine{{text: "What was done cannot be undone from here. This is what it was, newest first."}}
	for i := len(msg.list) - 1; i >= 0; i-- {
		lines = append(lines, undoLines(msg.list[i])...)
	}
	m.showHelp("approved automatically", lines)
}

// undoLines writes down one automatic approval: which words it rests on, what
// was called, and what that did.
func undoLines(a broker.AutoApproval) []helpLine {
	lines := []helpLine{
		{text: fmt.Sprintf("#%d %s/%s at %s", a.Call.Number, sanitize(a.Call.Server), sanitize(a.Call.Tool), a.At.Local().Format(time.TimeOnly)), head: true},
		{key: fmt.Sprintf("receipt %d", a.Receipt), text: "“" + sanitize(a.Quote) + "”"},
	}
	if a.Model != "" {
		lines = append(lines, helpLine{key: "confirmed by", text: sanitize(a.Model)})
	}
	if e := a.Call.Effect; e != nil {
		lines = append(lines, helpLine{key: "effect", text: sanitize(e.Summary)})
		for _, l := range e.Lines {
			_, mark := effectRow(l.Kind)
			lines = append(lines, helpLine{key: "", text: mark + sanitize(l.Text)})
		}
		if e.More > 0 {
			lines = append(lines, helpLine{text: "and " + counted(e.More, "more line")})
		}
	}
	fields, err := flatten(a.Call.Arguments)
	if err != nil {
		fields = []field{{"", sanitize(string(a.Call.Arguments))}}
	}
	for _, f := range fields {
		lines = append(lines, helpLine{key: f.path, text: f.value})
	}
	return append(lines, helpLine{key: "rule", text: sanitize(a.Call.Rule)}, helpLine{key: "digest", text: sanitize(a.Call.Digest)})
}
