package tour

import (
	"testing"
	"unicode/utf8"
)

func TestTheTour(t *testing.T) {
	var s Seen
	for i, d := range []Did{Typed, Left, Decided, Showed, Left} {
		step, n, ok := s.Step("Ctrl-A")
		if !ok || n != i+1 || step.Line == "" || step.Help == "" {
			t.Fatalf("step %d: %+v %v", n, step, ok)
		}
		if d != Typed && s.Note(Typed) {
			t.Errorf("typing ends step %d", n)
		}
		if !s.Note(d) {
			t.Errorf("step %d does not end", n)
		}
	}
	if _, _, ok := s.Step("Ctrl-A"); ok || s.Note(Left) {
		t.Error("the tour has no end")
	}
}

// Whoever only opens and closes the command line comes to the end too, and so does whoever ends it.
func TestTheTourEnds(t *testing.T) {
	var s Seen
	for range Steps("") {
		s.Note(Left)
	}
	other := Seen{Steps: 2, Phrase: true}
	other.End()
	for _, s := range []Seen{s, other, s.With(Seen{Prefix: true}), {Steps: -1}} {
		if _, _, ok := s.Step(""); ok {
			t.Errorf("%+v is not over", s)
		}
	}
}

func TestLinesFit(t *testing.T) {
	for _, step := range Steps("Ctrl-A") {
		if n := utf8.RuneCountInString(step.Line); n > 50 {
			t.Errorf("%d columns: %s", n, step.Line)
		}
	}
}
