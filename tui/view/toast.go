package view

import "time"

// Bounds of the toasts.
const (
	ToastTime = 12 * time.Second
	MaxToasts = 3
	toastRows = 4 // of one toast; further rows are only counted
)

// Toast announces a call that was approved because the person had ordered it, or a copy to the
// clipboard that waits for the person. It never takes the focus.
type Toast struct {
	Parts []string // each begins a new row; sanitized
	More  string   // the command that shows the rest, or that answers the toast
	until time.Time
}

// Toasts are the latest toasts, the oldest first.
type Toasts []Toast

// Add adds a toast, and drops the oldest when there are more than MaxToasts.
func (all *Toasts) Add(t Toast, now time.Time) {
	t.until = now.Add(ToastTime)
	*all = append(all.Fresh(now), t)
	if len(*all) > MaxToasts {
		*all = (*all)[1:]
	}
}

// Fresh returns the toasts whose time is not over.
func (all Toasts) Fresh(now time.Time) Toasts {
	var fresh Toasts
	for _, t := range all {
		if now.Before(t.until) {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// Draw draws the toasts over the top of the viewport, one below the other. On a small screen, each has
// one row.
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
		box := NewSurface(Rect{X: v.X + v.W - width, Y: y, W: width, H: h}, theme.Body)
		box.Gutter(theme.Edge)
		for i := range h {
			box.Sanitized(1, i, rows[i], theme.Good, theme.Escape)
		}
		out = append(out, box)
		y += h
	}
	return out
}

// rows lays a toast out on at most limit rows. If it needs more, another row says how many.
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
