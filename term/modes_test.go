package term

import "testing"

// XTRESTORE sets modes to the state that XTSAVE saved.
func TestSavedModes(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"set, reset and restored", "\x1b[?1h\x1b[?1s\x1b[?1l\x1b[?1r\x1b[?1$p", "\x1b[?1;1$y"},
		{"reset, set and restored", "\x1b[?1s\x1b[?1h\x1b[?1r\x1b[?1$p", "\x1b[?1;2$y"},
		{"several", "\x1b[?1;2004h\x1b[?1;1000;2004s\x1b[?1;2004l\x1b[?1000h\x1b[?2004;1000;1r\x1b[?1$p\x1b[?2004$p\x1b[?1000$p", "\x1b[?1;1$y\x1b[?2004;1$y\x1b[?1000;2$y"},
		{"never saved", "\x1b[?1h\x1b[?1r\x1b[?1$p", "\x1b[?1;1$y"},
		{"RIS forgets them", "\x1b[?1h\x1b[?1s\x1bc\x1b[?1r\x1b[?1$p", "\x1b[?1;2$y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := play(t, "native", 10, 4, 0, []byte(test.input))
			if got := string(s.TakeReplies()); got != test.want {
				t.Errorf("%s: %q, want %q", test.name, got, test.want)
			}
			s.Close()
		})
	}
}

// XTSAVE does not save undefined modes, however many a program names.
func TestSavedModesAreBounded(t *testing.T) {
	s := play(t, "native", 10, 4, 0, nil)
	defer s.Close()
	for n := range 70_000 {
		_, _ = s.Write(appendMode(nil, n))
	}
	if n := len(s.emulator.savedModes); n > 50 {
		t.Errorf("%d modes are kept", n)
	}
}

func appendMode(b []byte, n int) []byte {
	b = append(b, "\x1b[?"...)
	for digit := 10_000; digit > 0; digit /= 10 {
		b = append(b, byte('0'+n/digit%10))
	}
	return append(b, 's')
}

// The effects of modes on the screen.
func TestModesOnScreen(t *testing.T) {
	runSequences(t, []sequenceTest{
		{"47 shows again what was there", "main\x1b[?47halt\x1b[?47l\x1b[?47h", []string{"    alt"}, 7, 0},
		{"1047 enters an empty screen", "main\x1b[?47halt\x1b[?47l\x1b[?1047h", nil, 7, 0},
		{"RIS forgets the other screen", "main\x1b[?47halt\x1bc\x1b[?47h", nil, 0, 0},
		{"mode 41 wraps before a tab", "\x1b[?41h0123456789\tx", []string{"0123456789", "        x"}, 9, 1},
		{"DECCOLM erases, with leave", "ab\x1b[2;3r\x1b[?40h\x1b[3;3H\x1b[?3h\x1b[4Hx", []string{"", "", "", "x"}, 1, 3},
		{"DECCOLM does nothing without", "ab\x1b[?3h", []string{"ab"}, 2, 0},
		{"ED and EL spare what SPA protects", "a\x1bVb\x1bWc\x1b[2J\x1b[2K\x1b[H\x1b[9X", []string{" b"}, 0, 0},
		{"DECSED does, too", "a\x1bVb\x1bWc\x1b[?2J", []string{" b"}, 3, 0},
		{"DECSERA does not", "a\x1bVb\x1bWc\x1b[${", nil, 3, 0},
		{"after DECSCA ED spares nothing", "a\x1bVb\x1bW\x1b[0\"qc\x1b[2J", nil, 3, 0},
		{"an alternate screen is entered empty nevertheless", "a\x1b[?47h\x1bVb\x1bW\x1b[?47l\x1b[?1047h", nil, 2, 0},
		{"level 3 has no rectangles", "ab\x1b[63\"p\x1b[$z", []string{"ab"}, 2, 0},
		{"national charsets take mode 42", "\x1b(K{\x1b[?42h\x1b(K{~\x1b(B{", []string{"{äß{"}, 4, 0},
		{"another byte for the same set", "\x1b[?42h\x1b(5[\x1b(C[\x1b)9\x0e`", []string{"ÄÄô"}, 3, 0},
		{"the British one takes none", "\x1b(A#~", []string{"£~"}, 2, 0},
	})
}

// Styles that only the hidden alternate screen uses outlive a sweep.
func TestSweepSparesHiddenScreen(t *testing.T) {
	s := play(t, "native", 4, 1, 0, []byte("\x1b[?47h\x1b[38;2;1;2;3me\u0301\x1b[?47l\x1b[m"))
	defer s.Close()
	s.emulator.sweep()
	_, _ = s.Write([]byte("\x1b[38;2;9;9;9mo\u0308\x1b[?47h"))
	cells, _ := s.Line(0)
	if len(cells) == 0 || cells[0].Marks != "\u0301" || cells[0].Style.FG != RGB(1, 2, 3) {
		t.Errorf("the hidden screen shows %+v", cells)
	}
}
