package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// What was shown is landed once, and nothing that was not shown, or for another tab.
func TestLandWhatWasShown(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	shown := func() string { return r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String() }
	said := func() string { return r.m.messages.Shown(r.m.now()).Text }
	r.keys("\x01/land now\r")
	if len(r.broker.landed) != 0 || !strings.Contains(said(), "nothing was shown") {
		t.Errorf("landed %v, said %q", r.broker.landed, said())
	}
	r.broker.landing = broker.Landing{ID: "one", Origin: "/p", Files: 2, Lines: []broker.LandingLine{{Head: true, Text: "to be landed"}, {What: "added", Text: "a\x1b[31mb"}}}
	r.keys("\x01/land --ignored\r")
	if screen := shown(); !strings.Contains(screen, "/land now writes 2 files there") || !strings.Contains(screen, "added") || strings.Contains(screen, "\x1b") {
		t.Errorf("shown:\n%s", screen)
	}
	if !slices.Equal(r.broker.asked, []broker.Which{{Ignored: true}}) {
		t.Errorf("asked for %v", r.broker.asked)
	}
	r.keys("q\x01/land now\r\x01/land now\r")
	if !slices.Equal(r.broker.landed, []string{"one"}) {
		t.Errorf("landed %v", r.broker.landed)
	}

	r.keys("\x01/land\rq")
	r.keys("\x01/new shell\r\x01/land now\r") // another tab
	r.keys("\x01/land sideways\r")
	if len(r.broker.landed) != 1 {
		t.Errorf("landed %v", r.broker.landed)
	}
}

// Where nothing can be landed, that is said, and there is nothing to be landed later.
func TestNothingToLand(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.landing = broker.Landing{ID: "one", Origin: "/p"}
	r.keys("\x01/land\r")
	if screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String(); !strings.Contains(screen, "nothing has changed in the copy") {
		t.Errorf("shown:\n%s", screen)
	}
	r.keys("q\x01/land now\r")
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
