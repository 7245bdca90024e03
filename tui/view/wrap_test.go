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
