package view

import "time"

// Bounds of the toasts.
const (
	ToastTime = 12 * time.Second
	MaxToasts = 3
	toastRows = 4 // of one toast; what is longer is counted
)

// Toast tells of a call that was let through because the person ordered it, or of a copy
// that waits for their word. It never takes the focus, and is told apart from what an
// agent paints by its place over the viewport's corner and by the phrase.
type Toast struct {
	Parts []string // each on rows of its own; sanitized
	More  string   // the command that shows what has no room, or that it asks for
	until time.Time
}

// Toasts are those that were shown last, the oldest first.
type Toasts []Toast

// Add adds a toast, in the place of the oldest when there are too many.
func (all *Toasts) Add(t Toast, now time.Time) {
	t.until = now.Add(ToastTime)
	*all = append(all.Fresh(now), t)
	if len(*all) > MaxToasts {
		*all = (*all)[1:]
	}
}

// Fresh are the toasts whose time is not over.
func (all Toasts) Fresh(now time.Time) Toasts {
	var fresh Toasts
	for _, t := range all {
		if now.Before(t.until) {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// Draw draws the toasts over the top of the viewport, below each other. On a small
// screen each is one row.
func (all Toasts) Draw(v Rect, theme Theme, now time.Time) []*Surface {
	var out []*Surface
	y, limit := v.Y, toastRows
	if v.H < 12 {
		limit = 1
	}
	for _, t := range all.Fresh(now) {
		width := min(v.W, 76)
		rows := t.rows(max(1, width-2), limit)
		h := min(len(rows), v.Y+v.H-y-1)
		if h < 1 {
			break
		}
		box := NewSurface(Rect{v.X + v.W - width, y, width, h}, theme.Good)
		for i := range h {
			box.Sanitized(1, i, rows[i], theme.Good, theme.Escape)
		}
		out = append(out, box)
		y += h
	}
	return out
}

// rows lays a toast out on at most limit rows; what does not fit is counted.
func (t Toast) rows(width, limit int) []string {
	if limit == 1 {
		return []string{Clip(t.Parts[0], width)}
	}
	var rows []string
	for _, p := range t.Parts {
		rows = append(rows, Wrap(p, width)...)
	}
	if more := len(rows) - limit; more > 0 {
		rows = append(rows[:limit:limit], "… "+Counted(more, "more row")+": "+t.More)
	}
	return rows
}
