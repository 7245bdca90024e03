package term

// selectGraphics is SGR: it changes the pen.
func (e *emulator) selectGraphics() {
	if e.count == 1 && e.params[0] <= 0 { // by far the most frequent case
		e.setPen(e.pen.plain())
		return
	}
	pen := e.pen
	for i := 0; i < e.count; {
		n := int(max(0, e.params[i]))
		end := i + 1
		for end < e.count && e.subs&(1<<end) != 0 {
			end++
		}
		subs := e.params[i+1 : end]
		switch {
		case n == 38 || n == 48 || n == 58:
			var c Color
			var ok bool
			if len(subs) > 0 {
				c, ok = colonColor(subs)
			} else {
				var used int
				c, used, ok = semicolonColor(e.params[end:e.count])
				end += used
			}
			if ok {
				pen.setColor(n, c)
			}
		case n == 4 && len(subs) > 0:
			pen.underline = underlineOf(subs[0])
		default:
			pen.apply(n)
		}
		i = end
	}
	e.setPen(pen)
	if e.styles.full() {
		e.sweep()
	}
}

// underlineOf returns the style of SGR 4:n. An undefined n means a single line.
func underlineOf(n int32) Underline {
	if n < 0 || n > int32(DashedUnderline) {
		return SingleUnderline
	}
	return Underline(n)
}

// setColor sets the color that SGR 38, 48 or 58 names.
func (a *attrs) setColor(which int, c Color) {
	switch which {
	case 38:
		a.fg = c
	case 48:
		a.bg = c
	case 58:
		a.underlineColor = c
	}
}

// apply executes an SGR parameter that has no further parts.
func (a *attrs) apply(n int) {
	switch {
	case n == 0:
		*a = a.plain()
	case n < 10:
		a.turnOn(n)
	case n == 21:
		a.underline = DoubleUnderline
	case n >= 22 && n <= 29 && n != 26:
		a.turnOff(n)
	case n >= 30 && n <= 37:
		a.fg = PaletteColor(uint8(n - 30))
	case n == 39:
		a.fg = 0
	case n >= 40 && n <= 47:
		a.bg = PaletteColor(uint8(n - 40))
	case n == 49:
		a.bg = 0
	case n == 53:
		a.attr |= Overline
	case n == 55:
		a.attr &^= Overline
	case n == 59:
		a.underlineColor = 0
	case n >= 90 && n <= 97:
		a.fg = PaletteColor(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		a.bg = PaletteColor(uint8(n - 100 + 8))
	}
}

// plain returns the style after SGR 0. It keeps the link and the protection, because other
// sequences set them.
func (a *attrs) plain() attrs { return attrs{link: a.link, attr: a.attr & protected} }

// sgrAttrs are the attributes that SGR 1 to 9 turn on.
var sgrAttrs = [10]Attr{1: Bold, 2: Dim, 3: Italic, 5: Blink, 6: Blink, 7: Inverse, 8: Hidden, 9: Strike}

func (a *attrs) turnOn(n int) {
	if n == 4 {
		a.underline = SingleUnderline
		return
	}
	a.attr |= sgrAttrs[n]
}

func (a *attrs) turnOff(n int) {
	switch n {
	case 22:
		a.attr &^= Bold | Dim
	case 24:
		a.underline = NoUnderline
	default:
		a.attr &^= sgrAttrs[n-20]
	}
}

// semicolonColor reads 5;n or 2;r;g;b, and returns how many parameters it used. An
// incomplete color uses all remaining parameters.
func semicolonColor(p []int32) (c Color, used int, ok bool) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		return PaletteColor(component(p[1])), 2, true
	case len(p) >= 4 && p[0] == 2:
		return RGB(component(p[1]), component(p[2]), component(p[3])), 4, true
	}
	return 0, len(p), false
}

// colonColor reads 5:n, 2:r:g:b or 2:space:r:g:b.
func colonColor(p []int32) (c Color, ok bool) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		return PaletteColor(component(p[1])), true
	case len(p) >= 5 && p[0] == 2:
		return RGB(component(p[2]), component(p[3]), component(p[4])), true
	case len(p) == 4 && p[0] == 2:
		return RGB(component(p[1]), component(p[2]), component(p[3])), true
	}
	return 0, false
}

// component returns a color component or palette index. If v is missing, it returns 0; if v
// is too large, it returns the low byte, as other terminals do.
func component(v int32) uint8 { return uint8(max(0, v)) }
