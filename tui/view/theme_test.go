package view

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

const (
	leastContrast = 4.5 // of text, as WCAG 2 asks at level AA
	leastOfLines  = 1.5 // of lines, which are no text and stay calm
)

// lines are the styles of Theme that no text is drawn in.
var lines = []string{"Border", "Edge", "Waits", "Failed"}

type shade [3]uint8

// shades are the sixteen colors of widespread terminals.
var shades = map[string][16]shade{
	"xterm": {
		{0, 0, 0},
		{205, 0, 0},
		{0, 205, 0},
		{205, 205, 0},
		{0, 0, 238},
		{205, 0, 205},
		{0, 205, 205},
		{229, 229, 229},
		{127, 127, 127},
		{255, 0, 0},
		{0, 255, 0},
		{255, 255, 0},
		{92, 92, 255},
		{255, 0, 255},
		{0, 255, 255},
		{255, 255, 255},
	},
	"the console of Linux": {
		{0, 0, 0},
		{170, 0, 0},
		{0, 170, 0},
		{170, 85, 0},
		{0, 0, 170},
		{170, 0, 170},
		{0, 170, 170},
		{170, 170, 170},
		{85, 85, 85},
		{255, 85, 85},
		{85, 255, 85},
		{255, 255, 85},
		{85, 85, 255},
		{255, 85, 255},
		{85, 255, 255},
		{255, 255, 255},
	},
	"GNOME": {
		{46, 52, 54},
		{204, 0, 0},
		{78, 154, 6},
		{196, 160, 0},
		{52, 101, 164},
		{117, 80, 123},
		{6, 152, 154},
		{211, 215, 207},
		{85, 87, 83},
		{239, 41, 41},
		{138, 226, 52},
		{252, 233, 79},
		{114, 159, 207},
		{173, 127, 168},
		{52, 226, 226},
		{238, 238, 236},
	},
}

// of returns the shade of a palette color, where the first sixteen are these.
func of(c term.Color, sixteen [16]shade) shade {
	n, _ := c.Palette()
	switch level := [6]uint8{0, 95, 135, 175, 215, 255}; {
	case n < 16:
		return sixteen[n]
	case n < 232:
		return shade{level[(n-16)/36], level[(n-16)/6%6], level[(n-16)%6]}
	}
	return shade{8 + 10*(n-232), 8 + 10*(n-232), 8 + 10*(n-232)}
}

func (s shade) luminance() float64 { return luminance(s[0], s[1], s[2]) }

// contrast returns the contrast of a style with one or two colors of its own. A color that it
// does not have is the terminal's: the background of any luminance from low to high, or the text
// on it, of which only the terminal knows the contrast.
func contrast(style term.Style, sixteen [16]shade, low, high float64) float64 {
	if style.FG == 0 && style.BG == 0 {
		return 21
	}
	ratio := func(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
	switch fg, bg := of(style.FG, sixteen).luminance(), of(style.BG, sixteen).luminance(); {
	case style.FG == 0:
		return 1 // the terminal's text on a background of ours may be anything
	case style.BG != 0:
		return ratio(fg, bg)
	case fg >= low && fg <= high:
		return 1
	default:
		return min(ratio(fg, low), ratio(fg, high))
	}
}

// Every style of every theme is readable on what it stands on: a background of its own, or any
// background that the theme is chosen for. The styles are those of the type, so none can be left
// out.
func TestEveryStyleIsReadable(t *testing.T) {
	grounds := map[string][2]float64{"dark": {0, darkest}, "light": {lightest, 1}, "16": {0, 1}, "none": {0, 1}}
	for _, name := range ThemeNames() {
		theme, err := ThemeByName(name)
		if err != nil {
			t.Fatal(err)
		}
		on := grounds[name]
		all := reflect.ValueOf(theme)
		for i := range all.NumField() {
			style, ok := all.Field(i).Interface().(term.Style)
			if !ok {
				continue
			}
			field := all.Type().Field(i).Name
			least, low, high := leastContrast, on[0], on[1]
			if slices.Contains(lines, field) {
				least = leastOfLines
				if name == "16" { // a line may be anything but lost on black and on white
					low, high = 0, 0
				}
			}
			for terminal, sixteen := range shades {
				t.Run(fmt.Sprintf("%s/%s/%s", name, field, terminal), func(t *testing.T) {
					if got := contrast(style, sixteen, low, high); got < least {
						t.Errorf("%.2f:1, want %.1f:1", got, least)
					}
					if style.Attr&(term.Dim|term.Hidden) != 0 {
						t.Error("how dim is up to the terminal")
					}
					if n, _ := style.FG.Palette(); style.Attr&term.Bold != 0 && style.FG != 0 && n < 8 {
						t.Error("many terminals draw a dark bold color bright")
					}
				})
			}
		}
	}
}

// The theme follows the background: the colors of the dark and the light one are only for
// backgrounds on which they are readable.
func TestThemeForABackground(t *testing.T) {
	for background, want := range map[shade]string{
		{0, 0, 0}: "dark", {30, 30, 30}: "dark", {0, 43, 54}: "dark", {63, 63, 63}: "dark",
		{255, 255, 255}: "light", {253, 246, 227}: "light", {238, 232, 213}: "light",
		{100, 100, 100}: "16", {128, 128, 128}: "16", {200, 200, 200}: "16", {0, 0, 238}: "16",
	} {
		t.Run(fmt.Sprint(background), func(t *testing.T) {
			if got := ThemeFor(term.RGB(background[0], background[1], background[2])).Name; got != want {
				t.Errorf("theme %s, want %s", got, want)
			}
		})
	}
}
