package paint

import (
	"fmt"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

func TestDetectProfile(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want ColorProfile
	}{
		{map[string]string{"TERM": "xterm-256color"}, ANSI256},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, TrueColor},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "24bit"}, TrueColor},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, NoColor},
		{map[string]string{"TERM": "xterm-kitty"}, TrueColor},
		{map[string]string{"TERM": "xterm-direct"}, TrueColor},
		{map[string]string{"TERM": "screen"}, ANSI16},
		{map[string]string{"TERM": "linux"}, ANSI16},
		{map[string]string{"TERM": "vt220"}, NoColor},
		{map[string]string{"TERM": "dumb", "COLORTERM": "truecolor"}, NoColor},
		{nil, NoColor},
	}
	for _, tt := range tests {
		if got := DetectProfile(func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}

func TestColorDowngrade(t *testing.T) {
	tests := []struct {
		color             term.Color
		in256, in16, none term.Color
	}{
		{0, 0, 0, 0},
		{term.PaletteColor(3), term.PaletteColor(3), term.PaletteColor(3), 0},
		{term.PaletteColor(196), term.PaletteColor(196), term.PaletteColor(9), 0},
		{term.PaletteColor(232), term.PaletteColor(232), term.PaletteColor(0), 0},
		{term.RGB(255, 0, 0), term.PaletteColor(196), term.PaletteColor(9), 0},
		{term.RGB(0, 0, 0), term.PaletteColor(16), term.PaletteColor(0), 0},
		{term.RGB(255, 255, 255), term.PaletteColor(231), term.PaletteColor(15), 0},
		{term.RGB(128, 128, 128), term.PaletteColor(244), term.PaletteColor(8), 0},
		{term.RGB(95, 135, 175), term.PaletteColor(67), term.PaletteColor(8), 0},
		{term.RGB(30, 30, 30), term.PaletteColor(234), term.PaletteColor(0), 0},
	}
	for _, tt := range tests {
		if got := TrueColor.Color(tt.color); got != tt.color {
			t.Errorf("%x in true color is %x", tt.color, got)
		}
		for p, want := range map[ColorProfile]term.Color{ANSI256: tt.in256, ANSI16: tt.in16, NoColor: tt.none} {
			if got := p.Color(tt.color); got != want {
				t.Errorf("%x in %v is %x, want %x", tt.color, p, got, want)
			}
		}
	}
}

// Black that replaces a color that the terminal lacks is not bold, because many
// terminals show bold black as gray. Bold black of a program stays so.
func TestBlackOfOursIsNotBold(t *testing.T) {
	o := Options{Colors: ANSI16}
	for c, want := range map[term.Color]term.Attr{
		term.PaletteColor(16): 0, term.PaletteColor(0): term.Bold, term.PaletteColor(220): term.Bold, 0: term.Bold,
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := o.pen(term.Style{FG: c, Attr: term.Bold}).attr; got != want {
				t.Errorf("%v bold is drawn with %v, want %v", c, got, want)
			}
		})
	}
}

// TestNearest256IsNearest compares nearest256 with a search of all entries.
func TestNearest256IsNearest(t *testing.T) {
	worse := 0
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				want := rgb{uint8(r), uint8(g), uint8(b)}
				least := 1 << 30
				for n := 16; n < 256; n++ {
					least = min(least, want.distance(paletteShade(n)))
				}
				got := want.distance(paletteShade(int(nearest256(want[0], want[1], want[2]))))
				if got > 2*least+1500 {
					t.Errorf("%v is shown %d away, the nearest is %d away", want, got, least)
				}
				if got > least {
					worse++
				}
			}
		}
	}
	if worse > 18*18*18/5 {
		t.Errorf("%d of %d colors are not shown in the nearest", worse, 18*18*18)
	}
}

func TestAnswer(t *testing.T) {
	tests := []struct {
		params           []int
		synced, clusters bool
	}{
		{[]int{2026, 2}, true, false},
		{[]int{2026, 0}, false, false},
		{[]int{2026, 4}, false, false},
		{[]int{2027, 1}, false, true},
		{[]int{2027, 2}, false, false},
		{[]int{1, 1}, false, false},
		{[]int{2026}, false, false},
	}
	for _, tt := range tests {
		p := NewPainter(Options{})
		p.Answer(keys.Reply{Kind: keys.ReplyMode, Params: tt.params})
		if p.synced.Load() != tt.synced || p.clusters.Load() != tt.clusters {
			t.Errorf("%v: synchronized %v, clusters %v", tt.params, p.synced.Load(), p.clusters.Load())
		}
	}
}
