package term

import (
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/xcolor"
)

// ownColors are the colors that a program set for its own screen; a zero color is not
// set. They do not change the person's terminal or other screens. Frames show them,
// except two kinds that are only reported back to the program: the special colors,
// which xterm does not show by default either, and the color of the cursor, which is
// always shown in the person's.
type ownColors struct {
	palette    [256]Color
	special    [5]Color // of bold, underlined, blinking, inverse and italic text
	foreground Color
	background Color
	cursor     Color
}

// changeColor sets one of the program's own colors, which is selected by which. Zero
// resets it to the person's.
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

// maxColors bounds the colors of one command: the palette and a few more.
const maxColors = 300

// colorCommand reports colors, sets them (OSC 4, 5, 10, 11, 12) or resets them to the
// person's (OSC 104, 105, 110, 111, 112). bell says that answers end with BEL.
func (e *emulator) colorCommand(number string, s []byte, bell bool) {
	fields := strings.SplitN(string(s), ";", 2*maxColors+1)
	if len(s) == 0 {
		fields = nil
	}
	switch number {
	case "4", "5":
		for i := 0; i+1 < len(fields); i += 2 {
			if which, now, n := e.indexedColor(number, fields[i]); which != nil {
				e.setOrAnswer(number+";"+strconv.Itoa(n), fields[i+1], which, now, bell)
			}
		}
	case "10", "11", "12":
		for n, _ := strconv.Atoi(number); n <= 12 && len(fields) > 0; n++ {
			which, now := e.dynamicColor(n)
			e.setOrAnswer(strconv.Itoa(n), fields[0], which, now, bell)
			fields = fields[1:]
		}
	case "104", "105":
		e.resetIndexed(number[2:], fields)
	default:
		n, _ := strconv.Atoi(number[1:])
		which, _ := e.dynamicColor(n)
		e.changeColor(which, 0)
	}
}

// ownColor selects one of a program's own colors.
type ownColor func(*ownColors) *Color

// indexedColor returns a selector for entry n of the palette or of the special colors
// after it, and the entry's present color as reported to the program. OSC 5 counts from
// the first special color. which is nil if there is no such entry.
func (e *emulator) indexedColor(number, digits string) (which ownColor, now Color, n int) {
	parsed, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return nil, 0, 0
	}
	n = int(parsed)
	special := n
	if number == "4" {
		if n < 256 {
			which = func(o *ownColors) *Color { return &o.palette[n] }
			return which, e.color(which, PaletteColor(uint8(n))), n
		}
		special -= 256
	}
	if special >= len(ownColors{}.special) {
		return nil, 0, 0
	}
	which = func(o *ownColors) *Color { return &o.special[special] }
	return which, e.color(which, e.foreground), n
}

// dynamicColor returns a selector for the color of OSC 10, 11 or 12, and its present
// color as reported to the program.
func (e *emulator) dynamicColor(n int) (which ownColor, now Color) {
	switch n {
	case 10:
		which, now = func(o *ownColors) *Color { return &o.foreground }, e.foreground
	case 11:
		which, now = func(o *ownColors) *Color { return &o.background }, e.background
	default:
		which, now = func(o *ownColors) *Color { return &o.cursor }, e.foreground
	}
	return which, e.color(which, now)
}

// setOrAnswer sets a color to spec, or reports its present value now if spec is "?".
func (e *emulator) setOrAnswer(what, spec string, which ownColor, now Color, bell bool) {
	if spec == "?" {
		e.answerColor(what, now, bell)
		return
	}
	if rgb, ok := xcolor.Parse(spec); ok {
		c := RGB(rgb[0], rgb[1], rgb[2])
		e.changeColor(which, c)
	}
}

// resetIndexed resets the colors that the fields name, or all when there are no fields.
func (e *emulator) resetIndexed(number string, fields []string) {
	for _, field := range fields {
		if which, _, _ := e.indexedColor(number, field); which != nil {
			e.changeColor(which, 0)
		}
	}
	if len(fields) > 0 || e.own == nil {
		return
	}
	rest := *e.own
	if number == "4" {
		rest.palette = ownColors{}.palette
	} else {
		rest.special = ownColors{}.special
	}
	e.setOwn(rest)
}

func (e *emulator) answerColor(what string, c Color, bell bool) {
	r, g, b := c.resolve(defaultForeground)
	end := "\x1b\\"
	if bell {
		end = "\a"
	}
	e.answer("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end)
}

// paletteRGB returns the color of a palette entry in xterm's default palette: 16 named
// colors, a 6×6×6 cube and 24 grays.
func paletteRGB(n uint8) (r, g, b uint8) {
	switch {
	case n < 16:
		c := namedColors[n]
		return c[0], c[1], c[2]
	case n < 232:
		n -= 16
		return cubeLevel(n / 36), cubeLevel(n / 6 % 6), cubeLevel(n % 6)
	}
	gray := 8 + (n-232)*10
	return gray, gray, gray
}

var namedColors = [16][3]uint8{
	{0x00, 0x00, 0x00},
	{0xcd, 0x00, 0x00},
	{0x00, 0xcd, 0x00},
	{0xcd, 0xcd, 0x00},
	{0x00, 0x00, 0xee},
	{0xcd, 0x00, 0xcd},
	{0x00, 0xcd, 0xcd},
	{0xe5, 0xe5, 0xe5},
	{0x7f, 0x7f, 0x7f},
	{0xff, 0x00, 0x00},
	{0x00, 0xff, 0x00},
	{0xff, 0xff, 0x00},
	{0x5c, 0x5c, 0xff},
	{0xff, 0x00, 0xff},
	{0x00, 0xff, 0xff},
	{0xff, 0xff, 0xff},
}

func cubeLevel(n uint8) uint8 {
	if n == 0 {
		return 0
	}
	return 55 + n*40
}

// The default colors that a screen reports to programs when its owner has set none.
var (
	defaultForeground = RGB(0xd0, 0xd0, 0xd0)
	defaultBackground = RGB(0x1e, 0x1e, 0x1e)
)

// resolve turns any color into components; the default color becomes
// fallback.
func (c Color) resolve(fallback Color) (r, g, b uint8) {
	if c == 0 {
		c = fallback
	}
	if n, ok := c.Palette(); ok {
		return paletteRGB(n)
	}
	r, g, b, _ = c.RGB()
	return r, g, b
}

// Dark reports whether light text is readable on the color. It returns true for the
// default color.
func (c Color) Dark() bool {
	r, g, b := c.resolve(defaultBackground)
	return 299*int(r)+587*int(g)+114*int(b) < 128*1000
}
