package term

import "testing"

// filled is four rows of letters, with margins at columns 3 and 5 and the cursor home.
const filled = "\x1b[?7labcdefghij\r\nklmnopqrst\r\nuvwxyzABCD\r\nEFGHIJKLMN\x1b[?7h\x1b[?69h\x1b[3;5s"

// With left and right margins, editing and scrolling change only the cells between them,
// and the cursor does not leave them from inside.
func TestLeftAndRightMargins(t *testing.T) {
	const margins = "\x1b[?69h\x1b[3;5s"
	runSequences(t, []sequenceTest{
		{"without mode 69 it saves the cursor", "ab\x1b[3;5s\r\x1b[ux", []string{"abx"}, 3, 0},
		{"setting them goes home", "ab\n\x1b[?69h\x1b[3;5s", []string{"ab"}, 0, 0},
		{"left has to be less than right", "\x1b[?69h\x1b[5;5sabcdefgh", []string{"abcdefgh"}, 8, 0},
		{"a right one of 0 or beyond is the last column", "\x1b[?69h\x1b[9;99s\x1b[9Gabc", []string{"        ab", "        c"}, 9, 1},
		{"printing wraps", margins + "\x1b[3Gabcde", []string{"  abc", "  de"}, 4, 1},
		{"printing from left of them wraps", margins + "abcdefgh", []string{"abcde", "  fgh"}, 4, 1},
		{"printing right of them goes to the end", margins + "\x1b[8Gabcde", []string{"       abc", "  de"}, 4, 1},
		{"a due wrap", margins + "\x1b[3Gabc\bx\x1b[3Gabc\x1b[31m\u0301", []string{"  abc\u0301"}, 4, 0},
		{"without autowrap the margin is overwritten", margins + "\x1b[?7l\x1b[3Gabcde", []string{"  abe"}, 4, 0},
		{"a wide character that does not fit", margins + "\x1b[3Gab\u65e5", []string{"  ab", "  \u65e5"}, 4, 1},
		{"REP", margins + "\x1b[3Ga\x1b[4b", []string{"  aaa", "  aa"}, 4, 1},
		{"REP after a due wrap", margins + "\x1b[3Gabc\x1b[b", []string{"  abc", "  c"}, 3, 1},
		{"CR", margins + "\x1b[7G\rx", []string{"  x"}, 3, 0},
		{"CR left of them", margins + "\x1b[2G\rx", []string{"x"}, 1, 0},
		{"CR left of them in origin mode", margins + "\x1b[?6h\rx", []string{"  x"}, 3, 0},
		{"HT", margins + "\tx", []string{"    x"}, 4, 0},
		{"CUF and CUB", margins + "\x1b[4G\x1b[9Cx\x1b[9Dy", []string{"  y x"}, 3, 0},
		{"CUF and CUB outside", margins + "\x1b[6G\x1b[9Cx\x1b[2G\x1b[9Dy", []string{"y        x"}, 1, 0},
		{"CNL and CPL", margins + "\x1b[4G\x1b[Ea\x1b[Fb", []string{"  b", "  a"}, 3, 0},
		{"origin mode", margins + "\x1b[?6h\x1b[2;2Hx\x1b[9Gy", []string{"", "   xy"}, 4, 1},
		{"ICH", filled + "\x1b[2;4H\x1b[@", []string{"abcdefghij", "klm npqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 3, 1},
		{"ICH outside", filled + "\x1b[@", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 0, 0},
		{"DCH", filled + "\x1b[2;4H\x1b[9P", []string{"abcdefghij", "klm  pqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 3, 1},
		{"insert mode", filled + "\x1b[4h\x1b[2;3H-", []string{"abcdefghij", "kl-mnpqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 3, 1},
		{"IL", filled + "\x1b[2;4H\x1b[L", []string{"abcdefghij", "kl   pqrst", "uvmnozABCD", "EFwxyJKLMN"}, 2, 1},
		{"DL", filled + "\x1b[2;4H\x1b[2M", []string{"abcdefghij", "klGHIpqrst", "uv   zABCD", "EF   JKLMN"}, 2, 1},
		{"IL outside", filled + "\x1b[2;8H\x1b[L", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 7, 1},
		{"SU", filled + "\x1b[S", []string{"abmnofghij", "klwxypqrst", "uvGHIzABCD", "EF   JKLMN"}, 0, 0},
		{"SD", filled + "\x1b[3T", []string{"ab   fghij", "kl   pqrst", "uv   zABCD", "EFcdeJKLMN"}, 0, 0},
		{"SU of more than there is", filled + "\x1b[99S", []string{"ab   fghij", "kl   pqrst", "uv   zABCD", "EF   JKLMN"}, 0, 0},
		{"SU with top and bottom", filled + "\x1b[2;3r\x1b[S", []string{"abcdefghij", "klwxypqrst", "uv   zABCD", "EFGHIJKLMN"}, 0, 0},
		{"line feed scrolls them alone", filled + "\x1b[4;4H\n", []string{"abmnofghij", "klwxypqrst", "uvGHIzABCD", "EF   JKLMN"}, 3, 3},
		{"line feed outside scrolls nothing", filled + "\x1b[4;8H\n", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 7, 3},
		{"RI", filled + "\x1b[1;4H\x1bM", []string{"ab   fghij", "klcdepqrst", "uvmnozABCD", "EFwxyJKLMN"}, 3, 0},
		{"DECIC", filled + "\x1b[4G\x1b['}", []string{"abc dfghij", "klm npqrst", "uvw xzABCD", "EFG HJKLMN"}, 3, 0},
		{"SL", filled + "\x1b[3G\x1b[ @", []string{"abde fghij", "klno pqrst", "uvxy zABCD", "EFHI JKLMN"}, 2, 0},
		{"DECFI", filled + "\x1b[4G\x1b9\x1b9", []string{"abde fghij", "klno pqrst", "uvxy zABCD", "EFHI JKLMN"}, 4, 0},
		{"DECBI", filled + "\x1b[4G\x1b6\x1b6", []string{"ab cdfghij", "kl mnpqrst", "uv wxzABCD", "EF GHJKLMN"}, 2, 0},
		{"DECFI right of them stops at the last column", filled + "\x1b[9G\x1b9\x1b9", []string{"abcdefghij", "klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN"}, 9, 0},
		{"ECH, EL and ED know nothing of them", filled + "\x1b[2;2H\x1b[9X\x1b[1;2H\x1b[K\x1b[3H\x1b[J", []string{"a", "k"}, 0, 2},
		{"scrolling cuts no wide character", "12\u65e5\u65e5\r\n\u65e5\u65e5\u65e5" + "\x1b[?69h\x1b[4;6s\x1b[S", []string{"12  \u65e5", "\u65e5"}, 0, 0},
		{"setting mode 69 again keeps them", margins + "\x1b[?69h\x1b[3Gabcd", []string{"  abc", "  d"}, 3, 1},
		{"resetting mode 69 ends them", margins + "\x1b[?69labcdef", []string{"abcdef"}, 6, 0},
		{"DECSTR ends them", margins + "\x1b[!pabcdef", []string{"abcdef"}, 6, 0},
	})
}

// Scrolling columns between margins adds no lines to the scrollback.
func TestMarginsKeepNothing(t *testing.T) {
	s := play(t, "native", 10, 4, 100, []byte(filled+"\x1b[4;4H\n\n\n"))
	defer s.Close()
	if n := s.LineCount(); n != 4 {
		t.Errorf("%d lines are kept above the screen", n-4)
	}
	s.Resize(12, 5)
	_, _ = s.Write([]byte("\x1b[Habcdefg"))
	if got := s.Text(s.LineCount()-5, 1)[0]; got[:7] != "abcdefg" {
		t.Errorf("after a resize margins still hold: %q", got)
	}
}

// Both reports give the cursor's position, which counts from the margins in origin mode.
func TestMarginAnswers(t *testing.T) {
	s := play(t, "native", 10, 4, 0, []byte("\x1b[?69h\x1b[3;5s\x1bP$qs\x1b\\\x1b[?69$p\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b[6n"))
	defer s.Close()
	if got, want := string(s.TakeReplies()), "\x1bP1$r3;5s\x1b\\\x1b[?69;1$y\x1b[2;2R"; got != want {
		t.Errorf("answers %q, want %q", got, want)
	}
}
