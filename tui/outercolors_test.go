package tui

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
)

// Programs that ask get the colors that the person's terminal reports, and the theme follows
// these unless the person has chosen one.
func TestColorsOfThePersonsTerminal(t *testing.T) {
	for _, test := range []struct {
		o       Options
		replies string
		theme   string
		told    string
	}{
		{Options{FollowTheme: true}, "\x1b]10;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "light", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"},
		{Options{FollowTheme: true}, "\x1b]11;rgb:10/20/30\x07", "dark", "\x1b]11;rgb:1010/2020/3030\x1b\\"},
		{Options{Theme: "dark"}, "\x1b]11;rgb:f/f/f\x07", "dark", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"},
		{Options{Theme: "16", FollowTheme: true}, "\x1b]11;rgb:8080/8080/8080\x07", "16", "\x1b]11;rgb:8080/8080/8080\x1b\\"},
		{Options{Theme: "16"}, "\x1b]11;rgb:ffff/ffff/ffff\x07", "16", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"},
		{Options{FollowTheme: true}, "\x1b]11;rgb:zz/ff/ff\x07\x1b]11;white\x07\x1b]11;rgb:\x07", "dark", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"},
	} {
		r := newHarness(t, 80, 24, test.o)
		r.keys(test.replies)
		r.keys("\x01/new shell\r")
		for tab := 1; tab <= 2; tab++ {
			r.agentSays(tab, "\x1b]11;?\x1b\\")
			if got := r.queued(tab); got != test.told {
				t.Errorf("%q: tab %d was told %q, want %q", test.replies, tab, got, test.told)
			}
		}
		if r.m.theme.Name != test.theme {
			t.Errorf("%q: theme %s, want %s", test.replies, r.m.theme.Name, test.theme)
		}
	}
}

// When the person's terminal becomes light or dark, the theme changes and programs are told.
func TestLightBecomesDark(t *testing.T) {
	r := newHarness(t, 80, 24, Options{FollowTheme: true})
	r.agentSays(1, "\x1b[?2031h")
	r.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	if got := r.queued(1); got != "\x1b[?997;2n" || r.m.theme.Name != "light" {
		t.Errorf("the agent was told %q, the theme is %s", got, r.m.theme.Name)
	}
	r.keys("\x1b[?997;1n")
	if r.asked != 1 {
		t.Errorf("the terminal was asked %d times for its colors", r.asked)
	}
	r.keys("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\")
	if got := r.queued(1); got != "\x1b[?997;2n\x1b[?997;1n" || r.m.theme.Name != "dark" {
		t.Errorf("the agent was told %q, the theme is %s", got, r.m.theme.Name)
	}
	r.keys("\x01/theme dark\r")
	r.agentSays(1, "\x1b[?2031l")
	r.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	if got := r.queued(1); got != "\x1b[?997;2n\x1b[?997;1n" || r.m.theme.Name != "dark" {
		t.Errorf("the agent was told %q, the theme is %s", got, r.m.theme.Name)
	}
}

func TestParseColor(t *testing.T) {
	for text, want := range map[string]term.Color{
		"rgb:ffff/8080/0000":       term.RGB(255, 128, 0),
		"rgb:ff/80/00":             term.RGB(255, 128, 0),
		"rgba:0000/0000/0000/ffff": term.RGB(0, 0, 0),
	} {
		if got, ok := parseColor(text); !ok || got != want {
			t.Errorf("%s is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "rgb:", "rgb:1/2", "rgb:12345/0/0", "rgb:-1/0/0", "rgb:g/0/0", "#ffffff"} {
		if got, ok := parseColor(text); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// The theme that a view begins with is one that the terminal has the colors for.
func TestThemeToBeginWith(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile paint.ColorProfile
		chosen  string
		theme   string
		follow  bool
	}{
		{"nothing is chosen", paint.TrueColor, "", "16", true},
		{"nothing is chosen, 256 colors", paint.ANSI256, "", "16", true},
		{"a chosen theme stays", paint.ANSI256, "light", "light", false},
		{"16 colors", paint.ANSI16, "", "16", false},
		{"a theme of 256 colors on 16", paint.ANSI16, "dark", "16", false},
		{"no colors on 16", paint.ANSI16, "none", "none", false},
		{"NO_COLOR", paint.NoColor, "dark", "none", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if theme, follow := themeFor(c.profile, c.chosen); theme != c.theme || follow != c.follow {
				t.Errorf("theme %s, %v", theme, follow)
			}
		})
	}
}
