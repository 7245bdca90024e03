package term

import (
	"strconv"
	"strings"
)

// maxColors is how many colors one command may name: the palette and some.
const maxColors = 300

// colorCommand asks for colors, changes them or gives the person's back (OSC 4, 5, 10,
// 11, 12 and 104, 105, 110, 111, 112). bell says how answers end.
func (e *emulator) colorCommand(number string, s []byte, bell bool) {
	fields := strings.SplitN(string(s), ";", 2*maxColors+1)
	if len(s) == 0 {
		fields = nil
	}
	switch number {
	case "4", "5":
		for i := 0; i+1 < len(fields); i += 2 {
			if which, told, n := e.indexedColor(number, fields[i]); which != nil {
				e.setOrAnswer(number+";"+strconv.Itoa(n), fields[i+1], which, told, bell)
			}
		}
	case "10", "11", "12":
		for n, _ := strconv.Atoi(number); n <= 12 && len(fields) > 0; n++ {
			which, told := e.dynamicColor(n)
			e.setOrAnswer(strconv.Itoa(n), fields[0], which, told, bell)
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

// ownColor chooses one of a program's own colors.
type ownColor func(*ownColors) *Color

// indexedColor is entry n of the palette, or of the special colors that follow it, and
// what the program is told of it; OSC 5 counts from the first special one. Without such
// an entry which is nil.
func (e *emulator) indexedColor(number, digits string) (which ownColor, told Color, n int) {
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

// dynamicColor is the color that OSC 10, 11 or 12 is about, and what the program is
// told of it.
func (e *emulator) dynamicColor(n int) (which ownColor, told Color) {
	switch n {
	case 10:
		which, told = func(o *ownColors) *Color { return &o.foreground }, e.foreground
	case 11:
		which, told = func(o *ownColors) *Color { return &o.background }, e.background
	default:
		which, told = func(o *ownColors) *Color { return &o.cursor }, e.foreground
	}
	return which, e.color(which, told)
}

// setOrAnswer changes a color to spec, or tells what it is.
func (e *emulator) setOrAnswer(what, spec string, which ownColor, told Color, bell bool) {
	if spec == "?" {
		e.answerColor(what, told, bell)
		return
	}
	if c, ok := parseColor(spec); ok {
		e.changeColor(which, c)
	}
}

// resetIndexed gives back the colors of the fields, or all when there are none.
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
