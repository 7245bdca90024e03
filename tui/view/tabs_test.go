package view

import "testing"

// A click on a bar without tabs hits no tab.
func TestTabAt(t *testing.T) {
	bar := TabBar{Width: 20}
	if got := bar.At(3); got != -1 {
		t.Errorf("tab %d of none", got)
	}
	bar.Tabs = []Tab{{Label: " 1 a "}, {Label: " 2 b "}}
	for x, want := range map[int]int{0: 0, 4: 0, 5: 1, 9: 1, 10: -1} {
		if got := bar.At(x); got != want {
			t.Errorf("column %d is tab %d, want %d", x, got, want)
		}
	}
}
