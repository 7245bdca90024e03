package term

// ownColors are the colors that a program set for its own screen; a zero color is not
// set. They do not change the person's terminal or other screens. Frames show them,
// except two kinds that are only reported back to the program: the special colors,
// which xterm does not show by default either, and the cursor's, which stays the
// person's.
type ownColors struct {
	palette    [256]Color
	special    [5]Color // of bold, underlined, blinking, inverse and italic text
	foreground Color
	background Color
	cursor     Color
}

// changeColor sets the one of the program's own colors that which selects. Zero resets
// it to the person's.
func (e *emulator) changeColor(which ownColor, c Color) {
	var own ownColors
	if e.own != nil {
		own = *e.own
	}
	*which(&own) = c
	e.setOwn(own)
}

// setOwn replaces the program's own colors.
func (e *emulator) setOwn(own ownColors) {
	switch {
	case e.own == nil && own == ownColors{}, e.own != nil && own == *e.own:
		return
	case own == ownColors{}:
		e.own = nil
	default:
		e.own = &own
	}
	e.damage.all()
}

// color returns the color to report to the program: its own, or else fallback.
func (e *emulator) color(which ownColor, fallback Color) Color {
	if e.own != nil {
		if c := *which(e.own); c != 0 {
			return c
		}
	}
	return fallback
}

// paint replaces the colors of cells by the program's own.
func (o *ownColors) paint(cells []Cell) {
	if o == nil {
		return
	}
	for i := range cells {
		s := &cells[i].Style
		s.FG = o.shown(s.FG, o.foreground)
		s.BG = o.shown(s.BG, o.background)
		s.UnderlineColor = o.shown(s.UnderlineColor, 0)
	}
}

// shown returns the color to show for c. For the default color it returns own.
func (o *ownColors) shown(c, own Color) Color {
	if c == 0 {
		return own
	}
	if n, ok := c.Palette(); ok && o.palette[n] != 0 {
		return o.palette[n]
	}
	return c
}
