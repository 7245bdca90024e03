package tui

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The status line shows what the focused tab has used, and only what is known.
func TestStatusShowsWhatWasUsed(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	if screen := r.screen(); strings.Contains(screen, "$") {
		t.Fatalf("a usage is shown although nothing was used:\n%s", screen)
	}
	r.send(brokerMsg{broker.Event{Budget: &broker.Budget{Session: "s1", Used: broker.Usage{Out: 12_345, CostUSD: 0.126}}}})
	if screen := r.screen(); !strings.Contains(screen, "$0.13 · 12.3k tokens") {
		t.Fatalf("the usage is not shown:\n%s", screen)
	}
	r.send(brokerMsg{broker.Event{Budget: &broker.Budget{Session: "of another multiplexer"}}})
}

func TestRaise(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/budget +5\r")
	if got := strings.Join(r.broker.raised, "|"); got != "+5" {
		t.Fatalf("raised by %q", got)
	}
	if screen := r.screen(); !strings.Contains(screen, "may now use $10.00") {
		t.Fatalf("the new budget is not shown:\n%s", screen)
	}
}
