package view

// TooSmall draws the message that the terminal is too small.
func TooSmall(cols, rows int, theme Theme) *Surface {
	s := NewSurface(Rect{X: 0, Y: 0, W: cols, H: rows}, theme.Body)
	text := "terminal too small"
	if cols < TextWidth(text) {
		text = "too small"
	}
	s.Text(0, 0, Clip(text, cols), theme.Bad)
	return s
}
