package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Hints stay whole where there is room for one.
func TestWrapHints(t *testing.T) {
	for width, want := range map[int][]string{
		20: {"c new tab · n next", "a hint of many words"},
		18: {"c new tab · n next", "a hint of many", "words"},
		9:  {"c new tab", "n next", "a hint of", "many", "words"},
		80: {"c new tab · n next · a hint of many words"},
	} {
		if diff := cmp.Diff(want, WrapHints([]string{"c new tab", "n next", "a hint of many words"}, width)); diff != "" {
			t.Errorf("%d columns: %s", width, diff)
		}
	}
}

func TestClipWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"show the next tab", 17, "show the next tab"},
		{"show the next tab", 16, "show the next…"},
		{"show the next tab", 14, "show the next…"},
		{"show the next tab", 3, "sh…"},
		{"unprotected: a shell", 13, "unprotected…"},
		{"Ctrl-A · idle", 9, "Ctrl-A…"},
		{"antidisestablishment x", 12, "antidisesta…"},
		{"no", 0, ""},
	} {
		if got := ClipWords(c.text, c.width); got != c.want {
			t.Errorf("%q in %d columns: %q, not %q", c.text, c.width, got, c.want)
		}
	}
}

func TestFitHints(t *testing.T) {
	hints := []string{"/ commands", "Ctrl-X ends the tour", "Esc back"}
	for width, want := range map[int]string{
		80: "/ commands · Ctrl-X ends the tour · Esc back",
		43: "/ commands · Ctrl-X ends the tour",
		21: "/ commands · Esc back",
		15: "/ commands",
		8:  "/ comma…",
	} {
		if got := FitHints(hints, width); got != want {
			t.Errorf("%d columns: %q, not %q", width, got, want)
		}
	}
	if FitHints(nil, 10) != "" {
		t.Error("no hints are something")
	}
}
