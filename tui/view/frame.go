package view

// TooSmall draws one line that says that the terminal is too small.
func TooSmall(cols, rows int, theme Theme) *Surface {
	s := NewSurface(Rect{X: 0, Y: 0, W: cols, H: rows}, theme.Body)
	text := "terminal too small"
	if cols < TextWidth(text) {
		text = "too small"
	}
	s.Text(0, 0, Clip(text, cols), theme.Bad)
	return s
}

// Borders draws the lines between the parts of a split.
func Borders(v Rect, parts []Rect, theme Theme) []*Surface {
	var out []*Surface
	for _, r := range parts {
		if right := r.X + r.W; right < v.X+v.W {
			line := NewSurface(Rect{X: right, Y: r.Y, W: 1, H: r.H}, theme.Border)
			for y := range r.H {
				line.Text(0, y, "│", theme.Border)
			}
			out = append(out, line)
		}
		if bottom := r.Y + r.H; bottom < v.Y+v.H {
			line := NewSurface(Rect{X: r.X, Y: bottom, W: min(r.W+1, v.W-r.X), H: 1}, theme.Border)
			for x := range line.At.W {
				line.Text(x, 0, "─", theme.Border)
			}
			out = append(out, line)
		}
	}
	return out
}
