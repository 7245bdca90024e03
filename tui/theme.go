package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Theme gives every part of the chrome its style, by meaning and not by
// color. Panes are not themed: they show the colors their program chose.
type Theme struct {
	Name string

	Notice    term.Style // what the screen always has to say
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
		return darkTheme(), nil
	case "light":
		return lightTheme(), nil
	case "16":
		return sixteenTheme(), nil
	case "none":
		return plainTheme(), nil
	}
	return Theme{}, fmt.Errorf("theme %q: unknown name, known are %v", name, ThemeNames())
}

func colors(fg, bg term.Color, attr term.Attr) term.Style {
	return term.Style{FG: fg, BG: bg, Attr: attr}
}

func darkTheme() Theme {
	p := term.PaletteColor
	return Theme{
		Name:      "dark",
		Notice:    colors(p(245), p(236), term.Bold),
		Bar:       colors(p(250), p(236), 0),
		Tab:       colors(p(250), p(236), 0),
		ActiveTab: colors(p(231), p(25), term.Bold),
		Attention: colors(p(16), p(220), term.Bold),
		Good:      colors(p(114), p(236), 0),
		Bad:       colors(p(231), p(160), term.Bold),
		Muted:     colors(p(245), p(236), 0),
		Body:      colors(p(252), p(234), 0),
		Label:     colors(p(110), p(234), 0),
		Escape:    colors(p(203), p(234), term.Bold),
		Changed:   colors(p(221), p(234), 0),
		Added:     colors(p(114), p(234), 0),
		Removed:   colors(p(210), p(234), 0),
		Input:     colors(p(231), p(238), 0),
		Selection: colors(p(16), p(153), 0),
		Border:    colors(p(240), 0, 0),
		Title:     colors(p(16), p(220), term.Bold),
	}
}

func lightTheme() Theme {
	p := term.PaletteColor
	return Theme{
		Name:      "light",
		Notice:    colors(p(243), p(253), term.Bold),
		Bar:       colors(p(236), p(253), 0),
		Tab:       colors(p(236), p(253), 0),
		ActiveTab: colors(p(231), p(25), term.Bold),
		Attention: colors(p(16), p(220), term.Bold),
		Good:      colors(p(22), p(253), 0),
		Bad:       colors(p(231), p(160), term.Bold),
		Muted:     colors(p(243), p(253), 0),
		Body:      colors(p(235), p(255), 0),
		Label:     colors(p(25), p(255), 0),
		Escape:    colors(p(160), p(255), term.Bold),
		Changed:   colors(p(130), p(255), 0),
		Added:     colors(p(22), p(255), 0),
		Removed:   colors(p(124), p(255), 0),
		Input:     colors(p(232), p(252), 0),
		Selection: colors(p(16), p(153), 0),
		Border:    colors(p(248), 0, 0),
		Title:     colors(p(16), p(220), term.Bold),
	}
}

// sixteenTheme draws nothing bold in black: many terminals make bold colors bright,
// and bright black is gray.
func sixteenTheme() Theme {
	p := term.PaletteColor
	return Theme{
		Name:      "16",
		Notice:    colors(p(0), p(7), 0),
		Bar:       colors(p(0), p(7), 0),
		Tab:       colors(p(0), p(7), 0),
		ActiveTab: colors(p(15), p(4), term.Bold),
		Attention: colors(p(0), p(3), 0),
		Good:      colors(p(2), p(7), 0),
		Bad:       colors(p(15), p(1), term.Bold),
		Muted:     colors(p(0), p(7), 0),
		Body:      colors(p(7), p(0), 0),
		Label:     colors(p(6), p(0), 0),
		Escape:    colors(p(1), p(0), term.Bold),
		Changed:   colors(p(3), p(0), 0),
		Added:     colors(p(2), p(0), 0),
		Removed:   colors(p(1), p(0), 0),
		Input:     colors(p(15), p(0), 0),
		Selection: colors(p(0), p(6), 0),
		Border:    term.Style{},
		Title:     colors(p(0), p(3), 0),
	}
}

func plainTheme() Theme {
	inverse := term.Style{Attr: term.Inverse}
	strong := term.Style{Attr: term.Inverse | term.Bold}
	return Theme{
		Name:      "none",
		Notice:    strong,
		Bar:       inverse,
		Tab:       inverse,
		ActiveTab: term.Style{Attr: term.Bold, Underline: term.SingleUnderline},
		Attention: strong,
		Good:      inverse,
		Bad:       strong,
		Muted:     inverse,
		Body:      term.Style{},
		Label:     term.Style{Attr: term.Bold},
		Escape:    term.Style{Attr: term.Bold, Underline: term.SingleUnderline},
		Changed:   term.Style{Underline: term.SingleUnderline},
		Added:     term.Style{},
		Removed:   term.Style{},
		Input:     term.Style{Attr: term.Bold},
		Selection: inverse,
		Border:    term.Style{},
		Title:     strong,
	}
}
