package term

// ownColors are the colors that a program gave its own screen; zero are those that it
// left as they are. The person's terminal, and other screens, keep theirs. Frames show
// them, but for the special ones, which xterm does not show either unless told to, and
// the cursor's, which is the person's: a program is told these two as it set them.
type ownColors struct {
	palette    [256]Color
	special    [5]Color // of bold, underlined, blinking, inverse and italic text
	foreground Color
	background Color
	cursor     Color
}

// changeColor sets one of the program's own colors, or with zero gives the person's
// back. which chooses it.
func (e *emulator) changeColor(which ownColor, c Color) {
	var own ownColors
	if e.own != nil {
		own = *e.own
	}
	*which(&own) = c
	e.setOwn(own)
}

// setOwn gives the program its own colors, which may be none.
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

// color is the color that a program is told: its own, or else fallback.
func (e *emulator) color(which ownColor, fallback Color) Color {
	if e.own != nil {
		if c := *which(e.own); c != 0 {
			return c
		}
	}
	return fallback
}

// paint gives cells the program's own colors.
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

// shown is what is seen instead of c, which is own when it is the default color.
func (o *ownColors) shown(c, own Color) Color {
	if c == 0 {
		return own
	}
	if n, ok := c.Palette(); ok && o.palette[n] != 0 {
		return o.palette[n]
	}
	return c
}
