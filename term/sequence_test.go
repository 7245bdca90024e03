package term

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sequenceTest is input and its result on a screen of 10 columns and 4 rows.
type sequenceTest struct {
	name, input string
	want        []string
	x, y        int // the cursor
}

// runSequences plays each test on both stores.
func runSequences(t *testing.T, tests []sequenceTest) {
	t.Helper()
	for _, test := range tests {
		for _, engine := range []string{"native", "vt10x"} {
			t.Run(test.name+"/"+engine, func(t *testing.T) {
				s := play(t, engine, 10, 4, 0, []byte(test.input))
				defer s.Close()
				checkFaultless(t, s)
				checkWhole(t, s)
				var f Frame
				s.Snapshot(&f, 0)
				got := frameText(&f)
				for len(got) > 0 && got[len(got)-1] == "" {
					got = got[:len(got)-1]
				}
				if diff := cmp.Diff(test.want, got); len(test.want)+len(got) > 0 && diff != "" {
					t.Error(diff)
				}
				if f.Cursor.X != test.x || f.Cursor.Y != test.y {
					t.Errorf("the cursor is at %d,%d, not %d,%d", f.Cursor.X, f.Cursor.Y, test.x, test.y)
				}
			})
		}
	}
}

// Sequences that few programs use leave the text that most terminals show.
func TestSequences(t *testing.T) {
	runSequences(t, []sequenceTest{
		{"a mark after a change of colors joins", "e\x1b[31m\u0301x", []string{"e\u0301x"}, 2, 0},
		{"a mark joins what is left of the cursor", "日e\x1b[4G\x1b[3G\u0301", []string{"日\u0301e"}, 2, 0},
		{"a mark at the start of a row is dropped", "a\r\n\u0301b", []string{"a", "b"}, 1, 1},
		{"a mark after a blank is dropped", "\x1b[3G\u0301b", []string{"  b"}, 3, 0},
		{"a mark joins the last column while a wrap is due", "0123456789\x1b[m\u0301x", []string{"0123456789\u0301", "x"}, 1, 1},
		{"an unknown charset changes nothing", "\x1b(0q\x1b(Uq\x1b(Bq", []string{"──q"}, 3, 0},
		{"REP on a small screen", "a\x1b[44b", []string{"aaaaaaaaaa", "aaaaaaaaaa", "aaaaaaaaaa", "aaaaa"}, 5, 3},
		{"1049 twice keeps the cursor of the second", "ab\x1b[?1049h\x1b[1;5H\x1b[?1049hx\x1b[?1048ly", []string{"    y"}, 5, 0},
		{"U+009C ends a string", "\x1b]0;\u2714t\u009ca\x1b_app\u009cb\x1bP+q\u009cc", []string{"abc"}, 3, 0},
		{"the byte 9C alone ends no string", "\x1b]0;a\x9cb\x1b\\c", []string{"c"}, 1, 0},
		{"SL", "abcdef\r\nghij\x1b[2 @", []string{"cdef", "ij"}, 4, 1},
		{"SR", "abcdef\r\nghij\x1b[2 A", []string{"  abcdef", "  ghij"}, 4, 1},
		{"DECALN ends a region", "\x1b[2;3r\x1b#8\x1b[4H\n\x1b[2K", []string{"EEEEEEEEEE", "EEEEEEEEEE", "EEEEEEEEEE"}, 0, 3},
		{"SL in a region", "ab\r\ncd\r\nef\x1b[2;3r\x1b[2H\x1b[ @", []string{"ab", "d", "f"}, 0, 1},
		{"SL with the cursor out of the region", "ab\r\ncd\x1b[2;3r\x1b[ @", []string{"ab", "cd"}, 0, 0},
		{"DECIC", "abc\r\ndef\x1b[2G\x1b[2'}", []string{"a  bc", "d  ef"}, 1, 1},
		{"DECDC", "abcd\r\nefgh\x1b[2G\x1b[2'~", []string{"ad", "eh"}, 1, 1},
		{"SR cuts no wide character", "12345678日\x1b[ A", []string{" 12345678"}, 9, 0},
		{"DECSEL spares protected characters", "a\x1b[1\"qb\x1b[0\"qc\x1b[?2K", []string{" b"}, 3, 0},
		{"SGR protects nothing and frees nothing", "\x1b[1\"qa\x1b[1mb\x1b[mc\x1b[2\"qd\x1b[?2J", []string{"abc"}, 4, 0},
		{"DECSED 0 and 1", "\x1b[1\"qab\x1b[\"qcdef\x1b[4G\x1b[?0J\x1b[?1J", []string{"ab"}, 3, 0},
		{"EL and ED know no protection", "\x1b[1\"qab\x1b[\"q\r\x1b[K", nil, 0, 0},
		{"DECSTR ends protection", "\x1b[1\"q\x1b[!pab\x1b[?2K", nil, 2, 0},
		{"BS stops at the start of a row", "0123456789ab\b\b\b\bx", []string{"0123456789", "xb"}, 1, 1},
		{"BS goes back over a wrap in mode 45", "\x1b[?45h0123456789ab\b\b\b\bx", []string{"01234567x9", "ab"}, 9, 0},
		{"BS on a due wrap in mode 45", "\x1b[?45h0123456789\bx", []string{"012345678x"}, 9, 0},
		{"BS goes over a line feed in mode 45", "\x1b[?45hab\r\nc\b\b\bx", []string{"ab      x", "c"}, 9, 0},
		{"BS goes back to the cell that a wide character left in mode 45", "\x1b[?45h012345678日\b\b\bx", []string{"012345678x", "日"}, 9, 0},
	})
}

// Unusual SGR parameters mean the same as in most terminals.
func TestOddGraphics(t *testing.T) {
	for _, test := range []struct {
		input string
		want  Style
	}{
		{"\x1b[4:9m", Style{Underline: SingleUnderline}},
		{"\x1b[4:m", Style{Underline: SingleUnderline}},
		{"\x1b[5;26m", Style{Attr: Blink}},
		{"\x1b[48;5;300m", Style{BG: PaletteColor(44)}},
		{"\x1b[38;2;300;1;1m", Style{FG: RGB(44, 1, 1)}},
		{"\x1b[1\"q\x1b[1m", Style{Attr: Bold}},
	} {
		t.Run(test.input, func(t *testing.T) {
			s := play(t, "native", 10, 1, 0, []byte(test.input+"x"))
			cells, _ := s.Line(0)
			if cells[0].Style != test.want {
				t.Errorf("%q: %+v, want %+v", test.input, cells[0].Style, test.want)
			}
			s.Close()
		})
	}
}
