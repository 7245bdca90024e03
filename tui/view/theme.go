package view

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Theme gives every part of the multiplexer's own drawing its style, by meaning and not by color. Panes
// have no theme: they show the colors that their program chose.
type Theme struct {
	Name string

	Body      term.Style // text: the terminal's own colors
	Muted     term.Style // less important words, such as hints
	Notice    term.Style // notices that are always on the screen, and questions
	Title     term.Style // the first row of a list, and the prompt of the command line
	Label     term.Style // names of fields and keys
	ActiveTab term.Style // the tab that is shown
	Selection term.Style // the chosen row of a list, selected text and search hits
	Attention term.Style // something waits for the person
	Good      term.Style // approved, done
	Bad       term.Style // denied, dead, an error
	Escape    term.Style // escaped characters of untrusted text
	Changed   term.Style // values that differ from what the agent wrote
	Added     term.Style // lines that a call would add
	Removed   term.Style // lines that a call would remove

	// Styles of lines.
	Border term.Style // between panes, and after the words of a first row
	Edge   term.Style // in the gutter of a surface that has no line in its first row
	Waits  term.Style // of something that waits for the person
	Failed term.Style // of something that has failed
}

// ThemeNames are the names ThemeByName knows.
func ThemeNames() []string { return []string{"dark", "light", "16", "none"} }

// AboutTheme says in a few words what a theme is for.
func AboutTheme(name string) string {
	return map[string]string{"dark": "for a dark terminal", "light": "for a light terminal", "16": "sixteen colors", "none": "no colors"}[name]
}

// ThemeByName returns a built-in theme: "dark" (also for the empty name) or "light" for a
// background of that kind, in 256 colors; "16" for any background, in sixteen colors; "none"
// for attributes only, as NO_COLOR asks.
func ThemeByName(name string) (Theme, error) {
	switch name {
	case "", "dark":
		return DarkTheme(), nil
	case "light":
		return LightTheme(), nil
	case "16":
		return sixteenTheme(), nil
	case "none":
		return plainTheme(), nil
	}
	return Theme{}, fmt.Errorf("theme %q: no such theme; there are: %s%s", name, strings.Join(ThemeNames(), ", "), text.DidYouMean(name, ThemeNames()))
}

// The dark theme is readable on backgrounds with a luminance of at most darkest, and the light theme
// on those of at least lightest. White has the luminance 1, and black 0.
const (
	darkest  = 0.05
	lightest = 0.80
)

// ThemeFor returns the theme for a background in 24 bits: dark, light or, between the two, the theme
// that is readable on any background.
func ThemeFor(background term.Color) Theme {
	r, g, b, _ := background.RGB()
	switch l := luminance(r, g, b); {
	case l <= darkest:
		return DarkTheme()
	case l >= lightest:
		return LightTheme()
	}
	return sixteenTheme()
}

// luminance returns the relative luminance of a color, as WCAG 2 defines it.
func luminance(r, g, b uint8) float64 {
	linear := func(v uint8) float64 {
		c := float64(v) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// tones are the colors of a theme in 256 colors.
type tones struct {
	accent, on          lipgloss.ANSIColor // the accent, and text on it
	muted, good, bad    lipgloss.ANSIColor
	changed             lipgloss.ANSIColor
	border, waits, fail lipgloss.ANSIColor // lines
}

// DarkTheme is the theme with light text on a dark background, in 256 colors.
func DarkTheme() Theme {
	return colorTheme("dark", tones{accent: 111, on: 16, muted: 249, good: 114, bad: 217, changed: 221, border: 242, waits: 220, fail: 203})
}

// LightTheme is the theme with dark text on a light background, in 256 colors.
func LightTheme() Theme {
	return colorTheme("light", tones{accent: 25, on: 231, muted: 240, good: 22, bad: 124, changed: 94, border: 247, waits: 136, fail: 160})
}

// colorTheme makes a theme from colors.
func colorTheme(name string, c tones) Theme {
	base := lipgloss.NewStyle()
	chosen := base.Foreground(c.on).Background(c.accent)
	return Theme{
		Name:      name,
		Muted:     cellStyle(base.Foreground(c.muted)),
		Notice:    cellStyle(base.Bold(true)),
		Title:     cellStyle(base.Foreground(c.accent).Bold(true)),
		Label:     cellStyle(base.Foreground(c.accent)),
		ActiveTab: cellStyle(chosen.Bold(true)),
		Selection: cellStyle(chosen),
		Attention: cellStyle(base.Foreground(lipgloss.ANSIColor(16)).Background(lipgloss.ANSIColor(220)).Bold(true)),
		Good:      cellStyle(base.Foreground(c.good)),
		Bad:       cellStyle(base.Foreground(c.bad)),
		Escape:    cellStyle(base.Foreground(c.bad).Bold(true)),
		Changed:   cellStyle(base.Foreground(c.changed)),
		Added:     cellStyle(base.Foreground(c.good)),
		Removed:   cellStyle(base.Foreground(c.bad)),
		Border:    cellStyle(base.Foreground(c.border)),
		Edge:      cellStyle(base.Foreground(c.accent)),
		Waits:     cellStyle(base.Foreground(c.waits)),
		Failed:    cellStyle(base.Foreground(c.fail)),
	}
}

// sixteenTheme is the theme for terminals with sixteen colors, and for terminals whose background is
// not known. Every terminal has its own shades of these colors, so text uses only white on blue, and
// otherwise the terminal's own colors.
func sixteenTheme() Theme {
	t := plainTheme()
	base := lipgloss.NewStyle()
	chosen := base.Foreground(lipgloss.ANSIColor(15)).Background(lipgloss.ANSIColor(4))
	t.Name = "16"
	t.ActiveTab = cellStyle(chosen.Bold(true))
	t.Selection = cellStyle(chosen)
	t.Edge = cellStyle(base.Foreground(lipgloss.ANSIColor(4)))
	t.Failed = cellStyle(base.Foreground(lipgloss.ANSIColor(1)))
	return t
}

// plainTheme is the theme without colors; it uses attributes only.
func plainTheme() Theme {
	base := lipgloss.NewStyle()
	bold, inverse, underlined := cellStyle(base.Bold(true)), cellStyle(base.Reverse(true)), cellStyle(base.Underline(true))
	return Theme{
		Name:      "none",
		Notice:    bold,
		Title:     bold,
		Label:     bold,
		ActiveTab: inverse,
		Selection: inverse,
		Attention: cellStyle(base.Reverse(true).Bold(true)),
		Bad:       bold,
		Escape:    cellStyle(base.Underline(true).Bold(true)),
		Changed:   underlined,
		Waits:     bold,
		Failed:    bold,
	}
}

// cellStyle converts a style to the style of a cell.
func cellStyle(s lipgloss.Style) term.Style {
	out := term.Style{FG: cellColor(s.GetForeground()), BG: cellColor(s.GetBackground())}
	if s.GetBold() {
		out.Attr |= term.Bold
	}
	if s.GetReverse() {
		out.Attr |= term.Inverse
	}
	if s.GetUnderline() {
		out.Underline = term.SingleUnderline
	}
	return out
}

// cellColor converts a color to the color of a cell. A color that is not in the palette
// becomes the terminal's default color.
func cellColor(c color.Color) term.Color {
	if n, ok := c.(lipgloss.ANSIColor); ok {
		return term.PaletteColor(uint8(n))
	}
	return 0
}
