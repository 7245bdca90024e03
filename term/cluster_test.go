package term

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cellsOf returns the texts of a row's cells up to its last character, without second
// halves.
func cellsOf(s *Screen) []string {
	cells, _ := s.Line(0)
	var out []string
	for _, c := range cells {
		if c.Width > 0 {
			out = append(out, c.text())
		}
	}
	return out
}

func TestClusters(t *testing.T) {
	tests := []struct {
		input    string
		plain    []string // cells without mode 2027
		plainX   int
		cluster  []string // cells with it
		clusterX int
	}{
		{"e\u0301a", []string{"e\u0301", "a"}, 2, []string{"e\u0301", "a"}, 2},
		{"日\u0301a", []string{"日\u0301", "a"}, 3, []string{"日\u0301", "a"}, 3},
		{"👩\u200d💻a", []string{"👩\u200d", "💻", "a"}, 5, []string{"👩\u200d💻", "a"}, 3},
		{"👍🏽a", []string{"👍", "🏽", "a"}, 5, []string{"👍🏽", "a"}, 3},
		{"🇫🇷a", []string{"🇫", "🇷", "a"}, 3, []string{"🇫🇷", "a"}, 3},
		{"⚠\ufe0fa", []string{"⚠\ufe0f", "a"}, 2, []string{"⚠\ufe0f", "a"}, 3},
		{"1\ufe0f\u20e3a", []string{"1\ufe0f\u20e3", "a"}, 2, []string{"1\ufe0f\u20e3", "a"}, 3},
		{"⌚\ufe0ea", []string{"⌚\ufe0e", "a"}, 3, []string{"⌚\ufe0e", "a"}, 2},
		{"ab", []string{"a", "b"}, 2, []string{"a", "b"}, 2},
		{"\u0301a", []string{"a"}, 1, []string{"a"}, 1},
		{"a\x1b[D\u0301", []string{"a"}, 0, []string{"a"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.input, func(t *testing.T) {
			for mode, want := range map[string]struct {
				cells []string
				x     int
			}{"": {tt.plain, tt.plainX}, "\x1b[?2027h": {tt.cluster, tt.clusterX}} {
				s := play(t, "native", 20, 2, 0, []byte(mode+tt.input))
				if diff := cmp.Diff(want.cells, cellsOf(s)); diff != "" {
					t.Errorf("%q after %q: %s", tt.input, mode, diff)
				}
				if s.emulator.x != want.x {
					t.Errorf("%q after %q: cursor at %d, want %d", tt.input, mode, s.emulator.x, want.x)
				}
				checkWhole(t, s)
				s.Close()
			}
		})
	}
}

// A cluster that grows at the right edge moves to the next row.
func TestClusterGrowsAtTheEdge(t *testing.T) {
	s := play(t, "native", 4, 2, 0, []byte("\x1b[?2027habc⚠\ufe0fx"))
	defer s.Close()
	checkWhole(t, s)
	if diff := cmp.Diff([]string{"abc", "⚠\ufe0fx"}, s.Text(0, 2)); diff != "" {
		t.Error(diff)
	}
}

func TestWidths(t *testing.T) {
	w := newWidths()
	for _, tt := range []struct {
		r    rune
		want int
	}{
		{'a', 1},
		{'é', 1},
		{0xad, 1},
		{0x300, 0},
		{0x200d, 0},
		{0xfe0f, 0},
		{0x1100, 2},
		{0x1161, 0},
		{'日', 2},
		{'한', 2},
		{'Ａ', 2},
		{'│', 1},
		{'…', 1},
		{'🎉', 2},
		{'🫠', 2},
		{0x1f1eb, 1},
		{0x1f3fd, 2},
		{0x20000, 2},
		{0xe0100, 0},
		{0xf0000, 1},
		{0x10ffff, 1},
		{0x2630, 1},
		{0x4dc0, 1},
	} {
		t.Run(fmt.Sprint(tt.r), func(t *testing.T) {
			if got := w.of(tt.r); got != tt.want {
				t.Errorf("%U takes %d columns, want %d", tt.r, got, tt.want)
			}
		})
	}
}

// A program that has used up all clusters gets new ones once its screen no longer shows
// the old ones.
func TestClustersComeBack(t *testing.T) {
	s, err := NewScreen(Options{Cols: 400, Rows: 400, Scrollback: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	repeat(s, maxClusters, func(i int) string { return string(rune(firstReserved + i)) })
	_, _ = s.Write([]byte("\x1b[H\x1b[2J"))
	repeat(s, maxRefused+1, func(i int) string { return "\r" + string(rune('a'+i%26)) + string(rune(0x300+i/26%0x70)) })
	_, _ = s.Write([]byte("\rq\u20dd"))
	if got := cellsOf(s); len(got) != 1 || got[0] != "q\u20dd" {
		t.Errorf("it shows %q", got)
	}
	checkFaultless(t, s)
}
