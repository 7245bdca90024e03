package term

import "testing"

// In mode 45, BS and CUB move back to the row above. This needs autowrap.
func TestReverseWraparound(t *testing.T) {
	runSequences(t, []sequenceTest{
		{"CUB over several rows", "\x1b[?45h0123456789abcdefghijkl\x1b[22Dx", []string{"x123456789", "abcdefghij", "kl"}, 1, 0},
		{"CUB on a due wrap", "\x1b[?45h0123456789\x1b[Dx", []string{"012345678x"}, 9, 0},
		{"without autowrap", "\x1b[?45h0123456789ab\x1b[?7l\x1b[9Dx", []string{"0123456789", "xb"}, 1, 1},
		{"goes to any row", "\x1b[?45h\x1b[3H\bx", []string{"", "         x"}, 9, 1},
		{"goes from the top to the bottom", "\x1b[?45h\bx", []string{"", "", "", "         x"}, 9, 3},
		{"stays in the region", "\x1b[?45h\x1b[2;3r\x1b[2H\bx", []string{"", "", "         x"}, 9, 2},
		{"stays in the margins", "\x1b[?45h\x1b[?69h\x1b[3;5s\x1b[2;3H\bx", []string{"    x"}, 4, 0},
		{"from left of the margins", "\x1b[?45h\x1b[?69h\x1b[3;5s\x1b[2;2H\b\bx", []string{"    x"}, 4, 0},
		{"DECSTR ends it", "\x1b[?45h\x1b[!p\x1b[2H\bx", []string{"", "x"}, 1, 1},
		{"a huge count", "\x1b[?45h\x1b[16777216Dx", []string{"x"}, 1, 0},
	})
}
