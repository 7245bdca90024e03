package term

import (
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/xcolor"
)

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
