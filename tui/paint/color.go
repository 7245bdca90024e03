package paint

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// ColorProfile is how many colors the person's terminal can show.
type ColorProfile uint8

// The color profiles.
const (
	TrueColor ColorProfile = iota // 24 bits
	ANSI256                       // the palette of 256
	ANSI16                        // the first 16 of the palette, in the terminal's own shades
	NoColor                       // attributes only
)

// String names the profile.
func (p ColorProfile) String() string {
	return [...]string{"truecolor", "256 colors", "16 colors", "no color"}[min(p, NoColor)]
}

// DetectProfile returns how many colors the terminal can show according to the
// environment. If NO_COLOR is not empty, the result is NoColor.
func DetectProfile(getenv func(string) string) ColorProfile {
	name := getenv("TERM")
	switch {
	case getenv("NO_COLOR") != "":
		return NoColor
	case name == "" || name == "dumb" || strings.HasPrefix(name, "vt") || strings.HasSuffix(name, "-m") || strings.HasSuffix(name, "-mono"):
		return NoColor
	case getenv("COLORTERM") == "truecolor" || getenv("COLORTERM") == "24bit" || getenv("WT_SESSION") != "":
		return TrueColor
	case strings.HasSuffix(name, "-direct"):
		return TrueColor
	}
	for _, known := range []string{"kitty", "ghostty", "alacritty", "wezterm", "foot", "contour", "rio"} {
		if strings.Contains(name, known) {
			return TrueColor
		}
	}
	if strings.Contains(name, "256") {
		return ANSI256
	}
	return ANSI16
}

// Color returns the color of the profile that is nearest to c.
func (p ColorProfile) Color(c term.Color) term.Color {
	if p == TrueColor || c == 0 {
		return c
	}
	if p == NoColor {
		return 0
	}
	if r, g, b, ok := c.RGB(); ok {
		if p == ANSI256 {
			return term.PaletteColor(nearest256(r, g, b))
		}
		return term.PaletteColor(nearest16(r, g, b))
	}
	if n, ok := c.Palette(); ok && p == ANSI16 && n >= 16 {
		return term.PaletteColor(ansi16[n])
	}
	return c
}

// nearest256 returns the entry of the 6×6×6 cube or of the gray ramp nearest to a color.
// It ignores the first 16 entries, because terminals show them in different shades.
func nearest256(r, g, b uint8) uint8 {
	cr, cg, cb := cubeStep(r), cubeStep(g), cubeStep(b)
	cube := rgb{cubeLevel[cr], cubeLevel[cg], cubeLevel[cb]}
	mean := (int(r) + int(g) + int(b)) / 3
	step := min(max((mean-3)/10, 0), 23)
	gray := uint8(8 + 10*step)
	want := rgb{r, g, b}
	if want.distance(rgb{gray, gray, gray}) < want.distance(cube) {
		return uint8(232 + step)
	}
	return uint8(16 + 36*cr + 6*cg + cb)
}

var cubeLevel = [6]uint8{0, 95, 135, 175, 215, 255}

// cubeStep returns the index of the cube level nearest to v.
func cubeStep(v uint8) int {
	switch {
	case v < 48:
		return 0
	case v < 115:
		return 1
	}
	return int(v-35) / 40
}

// nearest16 returns the nearest of the first 16 colors, in xterm's shades.
func nearest16(r, g, b uint8) uint8 {
	want, best, least := rgb{r, g, b}, 0, 1<<30
	for i, c := range ansiShades {
		if d := want.distance(c); d < least {
			best, least = i, d
		}
	}
	return uint8(best)
}

type rgb [3]uint8

// distance returns a squared distance in which the weights of red and blue depend on the
// mean of red. It is close to human perception and needs no floating point.
func (a rgb) distance(b rgb) int {
	mean := (int(a[0]) + int(b[0])) / 2
	dr, dg, db := int(a[0])-int(b[0]), int(a[1])-int(b[1]), int(a[2])-int(b[2])
	return ((512+mean)*dr*dr)>>8 + 4*dg*dg + ((767-mean)*db*db)>>8
}

// ansiShades are xterm's first 16 colors.
var ansiShades = [16]rgb{
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
}

// ansi16 is the nearest of the first 16 colors for each palette entry.
var ansi16 = func() (table [256]uint8) {
	for n := range table {
		if n < 16 {
			table[n] = uint8(n)
			continue
		}
		c := paletteShade(n)
		table[n] = nearest16(c[0], c[1], c[2])
	}
	return table
}()

// paletteShade returns the color of palette entry n, 16 or above.
func paletteShade(n int) rgb {
	if n >= 232 {
		g := uint8(8 + 10*(n-232))
		return rgb{g, g, g}
	}
	n -= 16
	return rgb{cubeLevel[n/36], cubeLevel[n/6%6], cubeLevel[n%6]}
}
