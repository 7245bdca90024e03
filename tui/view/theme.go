package view

import (
	"fmt"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Theme gives every part of the chrome its style, by meaning and not by
// color. Panes are not themed: they show the colors their program chose.
type Theme struct {
	Name string

	Notice    term.Style // notices that are always on the screen
	Bar       term.Style // tab bar and status line
	Tab       term.Style // a tab in the bar
	ActiveTab term.Style // the tab that is shown
	Attention term.Style // something waits for the person
	Good      term.Style // approved, done
	Bad       term.Style // denied, dead, an error
	Muted     term.Style // less important words in a bar
	Body      term.Style // text of panels and help
	Label     term.Style // names of fields in panels
	Escape    term.Style // escaped characters of untrusted text
	Changed   term.Style // what differs from what the agent wrote
	Added     term.Style // lines that a call would add
	Removed   term.Style // lines that a call would remove
	Input     term.Style // the command line
	Selection term.Style // selected text and search hits
	Border    term.Style // lines between panes
	Title     term.Style // title row of a panel
}

// ThemeNames are the names ThemeByName knows.
func ThemeNames() []string { return []string{"dark", "light", "16", "none"} }

// ThemeByName returns a built-in theme: "dark" (also for the empty name),
// "light", "16" for terminals with sixteen colors, "none" for attributes only,
// as NO_COLOR asks.
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
	return Theme{}, fmt.Errorf("theme %q: no such theme; there are: %s", name, strings.Join(ThemeNames(), ", "))
}

// DarkTheme is the theme with light text on a dark background, in 256 colors.
func DarkTheme() Theme {
	return colorTheme("dark", true, func(dark, _, _ lipgloss.ANSIColor) color.Color { return dark })
}

// LightTheme is the theme with dark text on a light background, in 256 colors.
func LightTheme() Theme {
	return colorTheme("light", true, func(_, light, _ lipgloss.ANSIColor) color.Color { return light })
}

// sixteenTheme is the theme for sixteen colors. It draws nothing in bold black, because
// many terminals draw bold colors bright, and bright black is gray.
func sixteenTheme() Theme {
	t := colorTheme("16", false, func(_, _, sixteen lipgloss.ANSIColor) color.Color { return sixteen })
	t.Border = term.Style{}
	return t
}

// colorTheme makes a theme of colors. pick chooses each color from three: the one for a
// dark background, for a light background, and of the sixteen colors.
func colorTheme(name string, strong bool, pick func(dark, light, sixteen lipgloss.ANSIColor) color.Color) Theme {
	base := lipgloss.NewStyle()
	var (
		black = base.Foreground(pick(16, 16, 0))
		white = base.Foreground(pick(231, 231, 15)).Bold(true)
		bar   = base.Background(pick(236, 253, 7))
		body  = base.Background(pick(234, 255, 0))
		alert = black.Background(pick(220, 220, 3)).Bold(strong)
		muted = bar.Foreground(pick(245, 243, 0))
		plain = bar.Foreground(pick(250, 236, 0))
	)
	return Theme{
		Name:      name,
		Notice:    cellStyle(muted.Bold(strong)),
		Bar:       cellStyle(plain),
		Tab:       cellStyle(plain),
		ActiveTab: cellStyle(white.Background(pick(25, 25, 4))),
		Attention: cellStyle(alert),
		Good:      cellStyle(bar.Foreground(pick(114, 22, 2))),
		Bad:       cellStyle(white.Background(pick(160, 160, 1))),
		Muted:     cellStyle(muted),
		Body:      cellStyle(body.Foreground(pick(252, 235, 7))),
		Label:     cellStyle(body.Foreground(pick(110, 25, 6))),
		Escape:    cellStyle(body.Foreground(pick(203, 160, 1)).Bold(true)),
		Changed:   cellStyle(body.Foreground(pick(221, 130, 3))),
		Added:     cellStyle(body.Foreground(pick(114, 22, 2))),
		Removed:   cellStyle(body.Foreground(pick(210, 124, 1))),
		Input:     cellStyle(base.Foreground(pick(231, 232, 15)).Background(pick(238, 252, 0))),
		Selection: cellStyle(black.Background(pick(153, 153, 6))),
		Border:    cellStyle(base.Foreground(pick(240, 248, 0))),
		Title:     cellStyle(alert),
	}
}

// plainTheme is the theme without colors; it uses attributes only.
func plainTheme() Theme {
	base := lipgloss.NewStyle()
	plain, bold, inverse, underlined := cellStyle(base), cellStyle(base.Bold(true)), cellStyle(base.Reverse(true)), cellStyle(base.Underline(true))
	strong, marked := cellStyle(base.Reverse(true).Bold(true)), cellStyle(base.Underline(true).Bold(true))
	return Theme{
		Name:      "none",
		Notice:    strong,
		Bar:       inverse,
		Tab:       inverse,
		ActiveTab: marked,
		Attention: strong,
		Good:      inverse,
		Bad:       strong,
		Muted:     inverse,
		Body:      plain,
		Label:     bold,
		Escape:    marked,
		Changed:   underlined,
		Added:     plain,
		Removed:   plain,
		Input:     bold,
		Selection: inverse,
		Border:    plain,
		Title:     strong,
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
