package term

import (
	"strings"
	"testing"
)

// letters are four full rows, with the cursor home.
const letters = "\x1b[?7labcdefghij\r\nklmnopqrst\r\nuvwxyzABCD\r\nEFGHIJKLMN\x1b[?7h\x1b[H"

// The effects of the sequences for rectangles: top, left, bottom and right count from
// the origin.
func TestRectangles(t *testing.T) {
	all := []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}
	runSequences(t, []sequenceTest{
		{"DECFRA", letters + "\x1b[42;2;3;3;4$x", []string{"abcdefghij", "kl**opqrst", "uv**yzABCD", "EFGHIJKLMN"}, 0, 0},
		{"DECFRA without a rectangle fills the screen", "\x1b[120$x", []string{"xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxxxxx"}, 0, 0},
		{"DECFRA beyond the screen", letters + "\x1b[42;4;9;16777216;16777216$x", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKL**"}, 0, 0},
		{"DECFRA of a control character", letters + "\x1b[10;1;1;2;2$x\x1b[127;1;1;2;2$x\x1b[133;1;1;2;2$x\x1b[12354;1;1;2;2$x", all, 0, 0},
		{"DECFRA of a rectangle that is none", letters + "\x1b[42;3;1;2;2$x\x1b[42;1;3;2;2$x\x1b[42;5;1$x", all, 0, 0},
		{"DECFRA in origin mode stays in the margins", letters + "\x1b[2;3r\x1b[?69h\x1b[3;5s\x1b[?6h\x1b[42;2;2;9;9$x", []string{"abcdefghij", "klmnopqrst", "uvw**zABCD", "EFGHIJKLMN"}, 2, 1},
		{"DECFRA ignores margins otherwise", letters + "\x1b[2;3r\x1b[?69h\x1b[3;5s\x1b[42;1;1;1;9$x", []string{"*********j", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 0, 0},
		{"DECFRA cuts no wide character", "\u65e5\u65e5\x1b[42;1;2;1;3$x", []string{" **"}, 4, 0},
		{"DECERA", letters + "\x1b[2;3;3;4$z", []string{"abcdefghij", "kl  opqrst", "uv  yzABCD", "EFGHIJKLMN"}, 0, 0},
		{"DECERA takes protected characters", "\x1b[1\"qab\x1b[1;1;1;1$z", []string{" b"}, 2, 0},
		{"DECSERA spares them", "a\x1b[1\"qb\x1b[\"qc\x1b[1;1;1;3${", []string{" b"}, 3, 0},
		{"DECCRA", letters + "\x1b[1;1;2;2;1;3;9;1$v", []string{"abcdefghij", "klmnopqrst", "uvwxyzABab", "EFGHIJKLkl"}, 0, 0},
		{"DECCRA down over itself", letters + "\x1b[1;1;3;3;1;2;2;1$v", []string{"abcdefghij", "kabcopqrst", "uklmyzABCD", "EuvwIJKLMN"}, 0, 0},
		{"DECCRA up over itself", letters + "\x1b[2;2;4;4;1;1;1;1$v", []string{"lmndefghij", "vwxnopqrst", "FGHxyzABCD", "EFGHIJKLMN"}, 0, 0},
		{"DECCRA beyond the screen", letters + "\x1b[1;1;4;10;1;4;8;1$v", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKabc"}, 0, 0},
		{"DECCRA to nowhere", letters + "\x1b[1;1;2;2;1;5;1;1$v\x1b[1;1;2;2;1;1;11;1$v", all, 0, 0},
		{"DECCRA in origin mode", letters + "\x1b[2;3r\x1b[?69h\x1b[3;5s\x1b[?6h\x1b[1;1;1;1;1;2;3;1$v", []string{"abcdefghij", "klmnopqrst", "uvwxmzABCD", "EFGHIJKLMN"}, 2, 1},
		{"DECCRA cuts no wide character", "\u65e5\u65e5\x1b[1;2;1;3;1;2;1;1$v", []string{"\u65e5\u65e5"}, 4, 0},
		{"a sequence with a private mark is another", letters + "\x1b[?2;3;3;4$z", all, 0, 0},
	})
}

// DECRQCRA answers with the negated sum of the characters.
func TestRectangleChecksum(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"one character", "A\x1b[7;1;1;1;1;1*y", "\x1bP7!~FFBF\x1b\\"},
		{"two, one of them bold", "A\x1b[1mB\x1b[7;1;1;1;1;2*y", "\x1bP7!~FF7D\x1b\\"},
		{"a blank counts as a space", "\x1b[7;1;2;2;2;2*y", "\x1bP7!~FFE0\x1b\\"},
		{"a wide character counts once", "\u65e5\x1b[7;1;1;1;1;2*y", "\x1bP7!~9A1B\x1b\\"},
		{"with a mark", "e\u0301\x1b[7;1;1;1;1;1*y", "\x1bP7!~FC9A\x1b\\"},
		{"beyond the screen", "\x1b[7;1;9;9;9;99*y", "\x1bP7!~0000\x1b\\"},
		{"in origin mode", "\r\nA\x1b[2;3r\x1b[?6h\x1b[7;1;1;1;1;1*y", "\x1bP7!~FFBF\x1b\\"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, engine := range []string{"native", "vt10x"} {
				s := play(t, engine, 10, 4, 0, []byte(test.input))
				if got := string(s.TakeReplies()); got != test.want {
					t.Errorf("%s, %s: %q, want %q", test.name, engine, got, test.want)
				}
				s.Close()
			}
		})
	}
}

// DECCARA and DECRARA change attributes and leave text and colors.
func TestRectangleAttributes(t *testing.T) {
	const rows = "abcd\r\nabcd\r\nabcd"
	for _, test := range []struct {
		name, input string
		want        []string // per row: b bold, u underlined, i inverse, - none of them
	}{
		{"a stretch", rows + "\x1b[1;3;2;2;1$r", []string{"--bb", "bb--", "----"}},
		{"a rectangle", rows + "\x1b[2*x\x1b[1;2;2;3;1$r", []string{"-bb-", "-bb-", "----"}},
		{"turned off", "\x1b[1mabcd\x1b[2*x\x1b[1;2;1;3;22$r", []string{"b--b"}},
		{"all turned off", "\x1b[1mabcd\x1b[2*x\x1b[1;2;1;3$r", []string{"b--b"}},
		{"one after the other", "abcd\x1b[2*x\x1b[1;2;1;3;1;0;7$r", []string{"-ii-"}},
		{"turned over", "\x1b[4mab\x1b[mcd\x1b[2*x\x1b[1;2;1;3;4$t", []string{"u-u-"}},
		{"what nobody defined", "abcd\x1b[2*x\x1b[1;1;1;4;9;31;99$r", []string{"----"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, engine := range []string{"native", "vt10x"} {
				s := play(t, engine, 4, 3, 0, []byte(test.input))
				for y, want := range test.want {
					if got := attributeLetters(s, y); got != want {
						t.Errorf("%s, %s: row %d is %s, want %s", test.name, engine, y, got, want)
					}
				}
				s.Close()
			}
		})
	}
}

// attributeLetters spells the attributes of a row.
func attributeLetters(s *Screen, y int) string {
	var b strings.Builder
	var f Frame
	s.Snapshot(&f, 0)
	for _, c := range f.Lines[y].Cells {
		switch {
		case c.Style.Attr&Bold != 0:
			b.WriteByte('b')
		case c.Style.Attr&Inverse != 0:
			b.WriteByte('i')
		case c.Style.Underline != NoUnderline:
			b.WriteByte('u')
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}
