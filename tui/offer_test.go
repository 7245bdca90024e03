package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// /yes keeps the answer and then opens a tab like this one in its place; /no only keeps
// it; an error opens nothing.
func TestOfferIsAnswered(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/no\r")
	if screen := r.screen(); !slices.Equal(r.broker.answered, []bool{false}) || !strings.Contains(screen, "not offered for this workspace again") {
		t.Errorf("answered %v:\n%s", r.broker.answered, screen)
	}
	before := len(r.broker.opened)
	r.keys("\x01/yes\r")
	if len(r.broker.opened) != before+1 || r.broker.opened[before].Replaces == "" {
		t.Errorf("opened %+v", r.broker.opened[before:])
	}
	r.broker.offerErr = errors.New("nothing was offered in this tab")
	before = len(r.broker.opened)
	r.keys("\x01/yes\r")
	if screen := r.screen(); len(r.broker.opened) != before || !strings.Contains(screen, "nothing was offered") {
		t.Errorf("opened %+v:\n%s", r.broker.opened[before:], screen)
	}
}
