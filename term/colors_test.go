package term

import (
	"fmt"
	"strings"
	"testing"
)

// The notations of X11, as xterm answers them.
func TestColorNotations(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{"#fff", "f0f0/f0f0/f0f0"},
		{"#f08040", "f0f0/8080/4040"},
		{"#f00800400", "f0f0/8080/4040"},
		{"#f00080004000", "f0f0/8080/4040"},
		{"rgb:f/8/0", "ffff/8888/0000"},
		{"rgb:f0/80/40", "f0f0/8080/4040"},
		{"rgb:f00/800/400", "f0f0/8080/4040"},
		{"rgb:f0f0/8080/4040", "f0f0/8080/4040"},
		{"RGB:f0/80/40", "f0f0/8080/4040"},
		{"rgbi:0/0.5/1", "0000/bbbb/ffff"},
		{"CIEXYZ:0.5/0.5/0.5", "dddd/b5b5/a0a0"},
		{"CIEXYZ:1/1/1", "ffff/ffff/ffff"},
		{"CIExyY:0.5/0.5/0.5", "f7f7/b3b3/0e0e"},
		{"CIEuvY:0.5/0.5/0.5", "ffff/a3a3/aeae"},
		{"CIELab:1/1/1", "6c6c/6767/6767"},
		{"CIELab:50/0/0", "8383/7d7d/7e7e"},
		{"CIELuv:1/1/1", "1616/1414/0e0e"},
		{"CIELuv:0.5/0.5/0.5", "0e0e/1313/0e0e"},
		{"TekHVC:1/1/1", "1a1a/1313/0f0f"},
		{"TekHVC:0.5/0.5/0.5", "1111/1313/0e0e"},
		{"CIEuvY:1e6/-1e6/0.5", "ffff/9797/e6e6"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			s := play(t, "native", 10, 1, 0, []byte("\x1b]4;1;"+test.spec+";1;?\x1b\\"))
			if got, want := string(s.TakeReplies()), "\x1b]4;1;rgb:"+test.want+"\x1b\\"; got != want {
				t.Errorf("%s: answer %q, want %q", test.spec, got, want)
			}
			s.Close()
		})
	}
}

// An invalid color changes nothing.
func TestNoColors(t *testing.T) {
	for _, spec := range []string{
		"", "red", "#", "#ff", "#ffff", "#ggg", "#fffffffffffffff", "rgb:", "rgb:1/2", "rgb:1/2/3/4", "rgb:/1/2",
		"rgb:12345/1/1", "rgb:-1/1/1", "rgb:+1/1/1", "rgbi:1/1/1.1", "rgbi:-1/0/0", "rgbi:nan/0/0", "rgbi:inf/0/0",
		"rgbi:1e999/0/0", "CIEXYZ:1/2/1", "CIEXYZ:1/-1/1", "CIExyY:0/0/0", "CIELab:101/0/0",
		"CIELuv:0/1/1", "TekHVC:0/0/0", "TekHVC:1/200/1", "hsl:1/1/1", "rgb:1/1/1\u00e9",
	} {
		t.Run(spec, func(t *testing.T) {
			s := play(t, "native", 10, 1, 0, []byte("\x1b]4;1;"+spec+"\x1b\\"))
			if s.emulator.own != nil {
				t.Errorf("%q is taken for a color: %+v", spec, s.emulator.own.palette[1])
			}
			checkFaultless(t, s)
			s.Close()
		})
	}
}

// A program's own colors are reported until the program or RIS resets them to the
// person's.
func TestOwnColorAnswers(t *testing.T) {
	const person = "\x1b]11;rgb:1e1e/1e1e/1e1e\a"
	for _, test := range []struct{ name, input, want string }{
		{"two palette entries", "\x1b]4;0;#111;255;#222\a\x1b]4;255;?;0;?\a", "\x1b]4;255;rgb:2020/2020/2020\a\x1b]4;0;rgb:1010/1010/1010\a"},
		{"foreground and background", "\x1b]10;#111;#222\a\x1b]10;?;?\a", "\x1b]10;rgb:1010/1010/1010\a\x1b]11;rgb:2020/2020/2020\a"},
		{"set and asked for in one", "\x1b]10;#111;?\a", person},
		{"cursor", "\x1b]12;#111\a\x1b]12;?\a", "\x1b]12;rgb:1010/1010/1010\a"},
		{"bold, both ways", "\x1b]5;0;#111\a\x1b]4;256;?\a\x1b]5;0;?\a", "\x1b]4;256;rgb:1010/1010/1010\a\x1b]5;0;rgb:1010/1010/1010\a"},
		{"no special color beyond", "\x1b]5;5;#111;5;?\a", ""},
		{"only digits are an index", "\x1b]4;01;?;+1;?;1 ;?\a", "\x1b]4;1;rgb:cdcd/0000/0000\a"},
		{"104 of one", "\x1b]4;1;#111;2;#222\a\x1b]104;1\a\x1b]4;1;?;2;?\a", "\x1b]4;1;rgb:cdcd/0000/0000\a\x1b]4;2;rgb:2020/2020/2020\a"},
		{"104 of all", "\x1b]4;1;#111;2;#222\a\x1b]104\a\x1b]4;1;?;2;?\a", "\x1b]4;1;rgb:cdcd/0000/0000\a\x1b]4;2;rgb:0000/cdcd/0000\a"},
		{"105", "\x1b]5;0;#111\a\x1b]105\a\x1b]5;0;?\a", "\x1b]5;0;rgb:d0d0/d0d0/d0d0\a"},
		{"111", "\x1b]11;#111\a\x1b]111\a\x1b]11;?\a", person},
		{"110 leaves the background", "\x1b]10;#111;#222\a\x1b]110\a\x1b]11;?\a", "\x1b]11;rgb:2020/2020/2020\a"},
		{"RIS", "\x1b]11;#111\a\x1bc\x1b]11;?\a", person},
		{"DECSTR leaves them", "\x1b]11;#111\a\x1b[!p\x1b]11;?\a", "\x1b]11;rgb:1010/1010/1010\a"},
		{"light or dark is the person's", "\x1b]11;#fff\a\x1b[?996n", "\x1b[?997;1n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := play(t, "native", 10, 1, 0, []byte(test.input))
			if got := string(s.TakeReplies()); got != test.want {
				t.Errorf("%s: answer %q, want %q", test.name, got, test.want)
			}
			s.Close()
		})
	}
}

// A frame shows a program's own colors, on the screen and in the scrollback, and the
// person's again after a reset.
func TestOwnColorsAreShown(t *testing.T) {
	s := play(t, "native", 4, 2, 10, []byte("\x1b[31;44mab\x1b[m\r\n\x1b[38;5;200mc\x1b[38;2;1;2;3md\r\n"))
	defer s.Close()
	var f Frame
	s.Snapshot(&f, 0)
	before := f.Generation
	_, _ = s.Write([]byte("\x1b]4;1;#123456;200;#654321\a\x1b]11;#0a0b0c\a\x1b]10;#f0f0f0\a"))
	s.Snapshot(&f, 1)
	if f.Generation == before {
		t.Error("nobody is told that the colors changed")
	}
	own, back, front := RGB(0x12, 0x34, 0x56), RGB(0x0a, 0x0b, 0x0c), RGB(0xf0, 0xf0, 0xf0)
	for _, want := range []struct {
		x, y   int
		fg, bg Color
	}{
		{0, 0, own, PaletteColor(4)},
		{3, 0, front, back},
		{0, 1, RGB(0x65, 0x43, 0x21), back},
		{1, 1, RGB(1, 2, 3), back},
	} {
		t.Run(fmt.Sprint(want.x), func(t *testing.T) {
			if got := f.Lines[want.y].Cells[want.x].Style; got.FG != want.fg || got.BG != want.bg {
				t.Errorf("cell %d,%d is %+v", want.x, want.y, got)
			}
		})
	}
	cells, _ := s.Line(0)
	if cells[0].Style.FG != PaletteColor(1) {
		t.Error("what is kept of a line has lost its palette entry")
	}
	_, _ = s.Write([]byte("\x1b]104\a\x1b]110\a\x1b]111\a"))
	s.Snapshot(&f, 1)
	if got := f.Lines[0].Cells[0].Style; got.FG != PaletteColor(1) || f.Lines[0].Cells[3] != (Cell{Width: 1}) {
		t.Errorf("after all is given back the first cell is %+v", got)
	}
}

// A picture is drawn on the background that the program chose.
func TestOwnColorsInPicture(t *testing.T) {
	s := play(t, "native", 4, 2, 10, []byte("\x1b]11;#0a0b0c\a"))
	defer s.Close()
	var b strings.Builder
	if err := s.DumpSVG(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "#0a0b0c") {
		t.Error("the picture has another background")
	}
}
