package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// What was shown is landed, and once.
func TestLandWhatWasShown(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.landing = broker.Landing{ID: "one", Origin: "/p", Files: 2, Lines: []broker.LandingLine{{Head: true, Text: "to be landed"}, {What: "added", Text: "a\x1b[31mb"}}}
	r.keys("\x01/land --ignored\r")
	screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String()
	if !strings.Contains(screen, "/land now writes 2 files into the directory") || !strings.Contains(screen, "added") || strings.Contains(screen, "\x1b") {
		t.Errorf("shown:\n%s", screen)
	}
	if !slices.Equal(r.broker.asked, []broker.Which{{Ignored: true}}) {
		t.Errorf("asked for %v", r.broker.asked)
	}
	r.keys("q\x01/land now\r")
	r.keys("\x01/land now\r")
	if !slices.Equal(r.broker.landed, []string{"one"}) {
		t.Errorf("landed %v", r.broker.landed)
	}
}

// Nothing is landed that was not shown, or that was shown for another tab.
func TestLandOnlyWhatWasShown(t *testing.T) {
	for name, keys := range map[string][]string{
		"not shown":       {"\x01/land now\r"},
		"for another tab": {"\x01/land\r", "q", "\x01/new shell\r", "\x01/land now\r"},
		"no such word":    {"\x01/land sideways\r"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 100, 24, Options{})
			r.broker.landing = broker.Landing{ID: "one", Origin: "/p", Files: 2}
			for _, k := range keys {
				r.keys(k)
			}
			if len(r.broker.landed) != 0 || r.m.mode != modeCommand {
				t.Errorf("landed %v, mode %d", r.broker.landed, r.m.mode)
			}
		})
	}
}

// Where nothing can be landed, that is said, and there is nothing to be landed later.
func TestNothingToLand(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.landing = broker.Landing{ID: "one", Origin: "/p"}
	r.keys("\x01/land\r")
	if screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String(); !strings.Contains(screen, "there is nothing to land") {
		t.Errorf("shown:\n%s", screen)
	}
	r.keys("q\x01/land now\r")
	if len(r.broker.landed) != 0 {
		t.Errorf("landed %v", r.broker.landed)
	}
}

// A session that works in the directory itself has nothing to land.
func TestLandWithoutACopy(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.landingErr = errors.New("session s1 works in /p, and not in a copy of a directory")
	r.keys("\x01/land\r")
	if len(r.broker.landed) != 0 || r.m.mode == modeHelp {
		t.Errorf("landed %v, mode %d", r.broker.landed, r.m.mode)
	}
}

func TestAReadOnlyViewLandsNothing(t *testing.T) {
	r := newHarness(t, 100, 24, Options{Rights: See})
	r.keys("\x01/land\r")
	if len(r.broker.asked) != 0 {
		t.Errorf("asked for %v", r.broker.asked)
	}
}
