package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rule is a line between the output of two programs.
func rule(text string) []Cell {
	var cells []Cell
	for _, r := range text {
		cells = append(cells, Cell{Rune: r, Width: 1, Style: Style{Attr: Dim}})
	}
	return cells
}

func TestInherit(t *testing.T) {
	type size struct{ cols, rows int }
	tests := []struct {
		name       string
		from       size
		old        string
		to         size
		now        string
		want       []string
		scrollback int
	}{
		{"scrollback and screen", size{9, 2}, "a\r\nb\r\nc\r\nd", size{9, 3}, "", []string{"a", "b", "c", "d", "-", "", "", ""}, 5},
		{"no empty rows of it", size{9, 5}, "a\r\nb", size{9, 2}, "x", []string{"a", "b", "-", "x", ""}, 3},
		{"above what was written meanwhile", size{9, 2}, "a", size{9, 2}, "x\r\ny\r\nz", []string{"a", "-", "x", "y", "z"}, 3},
		{"wrapped for the new width", size{8, 2}, "abcdefgh漢字", size{6, 2}, "", []string{"abcdef", "gh漢字", "-", "", ""}, 3},
		{"below a full-screen program", size{9, 2}, "a\r\nb\r\nc\x1b[?1049hfull", size{9, 2}, "", []string{"a", "b", "c", "-", "", ""}, 4},
		{"nothing of nothing", size{9, 2}, "", size{9, 2}, "x", []string{"x", ""}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, engine := range []string{"native", "vt10x"} {
				from := play(t, engine, tt.from.cols, tt.from.rows, 0, []byte(tt.old))
				s := play(t, engine, tt.to.cols, tt.to.rows, 0, []byte(tt.now))
				before, dropped := s.Generation(), s.Dropped()
				s.Inherit(from, rule("-"))
				if diff := cmp.Diff(tt.want, s.Text(0, 99)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", engine, diff)
				}
				var f Frame
				s.Snapshot(&f, 0)
				if f.Scrollback != tt.scrollback || tt.scrollback > 0 && s.Generation() == before || s.Dropped() != dropped {
					t.Errorf("%s: %d lines of scrollback, generation %d after %d", engine, f.Scrollback, s.Generation(), before)
				}
				for _, x := range []*Screen{s, from} {
					checkWhole(t, x)
					x.Resize(5, 4)
					checkWhole(t, x)
					checkFaultless(t, x)
					x.Close()
				}
			}
		})
	}
}

// bounded returns a screen of two rows with a scrollback of so many lines.
func bounded(t *testing.T, lines int, input string) *Screen {
	t.Helper()
	s, err := NewScreen(Options{Cols: 20, Rows: 2, Scrollback: lines})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, s, 0, []byte(input))
	return s
}

// The screen that gave its scrollback away keeps its cells, colors and links move along,
// and the scrollback keeps its bounds.
func TestInheritKeepsThePictureAndTheBounds(t *testing.T) {
	from := bounded(t, 3, "1\r\n2\r\n3\r\n4\r\n\x1b[31mred\x1b[m \x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\")
	s := bounded(t, 3, "")
	s.Inherit(from, rule("-"))
	if got := strings.Join(from.Text(0, 99), "|"); got != "4|red link" {
		t.Errorf("the other screen has %q", got)
	}
	if got := strings.Join(s.Text(0, 99), "|"); got != "4|red link|-||" {
		t.Errorf("it has %q", got)
	}
	cells, _ := s.Line(1)
	if cells[0].Style.FG != PaletteColor(1) || cells[4].Style.Link != "http://x/" {
		t.Errorf("%+v, %+v", cells[0].Style, cells[4].Style)
	}
	if cells, _ := s.Line(2); cells[0].Style.Attr != Dim {
		t.Errorf("the line between is %+v", cells[0].Style)
	}
	s.Inherit(s, rule("-"))
	from.Close()
	s.Inherit(from, rule("-"))
	if n := s.LineCount(); n != 5 {
		t.Errorf("%d lines", n)
	}
	s.Close()
	s.Inherit(bounded(t, 3, "x"), rule("-"))

	none := bounded(t, -1, "x")
	none.Inherit(bounded(t, -1, "y"), rule("-"))
	if n := none.LineCount(); n != 2 {
		t.Errorf("%d lines where none are kept", n)
	}
}

// A program cannot erase the inherited lines of another one, and a screen that grows
// does not show them. The bounds of the scrollback still drop them.
func TestWhatIsInheritedIsOutOfReach(t *testing.T) {
	const former = "a long line of the first|2|-"
	for _, engine := range []string{"native", "vt10x"} {
		t.Run(engine, func(t *testing.T) {
			s := play(t, engine, 30, 2, 0, nil)
			s.Inherit(play(t, engine, 30, 2, 0, []byte("a long line of the first\r\n2")), rule("-"))
			for _, step := range []struct {
				input      string
				cols, rows int
				want       string
			}{
				{"", 30, 4, former + "||||"},
				{"x\r\ny\r\nz", 30, 2, former + "|x|y|z"},
				{"\x1b[3J", 30, 2, former + "|y|z"},
				{"", 30, 3, former + "|y|z|"},
				{"\r\nabcdefghij\r\nk\r\nl", 12, 3, "a long line|of the first|2|-|y|z|abcdefghij|k|l"},
				{"", 5, 2, "a lon|g lin|e of|the f|irst|2|-|y|z|abcde|fghij|k|l"},
				{"", 30, 9, former + "|y|z|abcdefghij|k|l||||"},
				{"\x1bc", 30, 9, former + "|||||||||"},
				{"", 40, 9, former + "|||||||||"},
				{"x", 30, 2, former + "|x|"},
			} {
				feed(t, s, 0, []byte(step.input))
				s.Resize(step.cols, step.rows)
				checkWhole(t, s)
				checkFaultless(t, s)
				if got := strings.Join(s.Text(0, 99), "|"); got != step.want {
					t.Errorf("%s, %q at %dx%d:\n got %s\nwant %s", engine, step.input, step.cols, step.rows, got, step.want)
				}
			}
			s.Close()
		})
	}

	s := bounded(t, 4, "")
	s.Inherit(bounded(t, 4, "1\r\n2\r\n3"), rule("-"))
	feed(t, s, 0, []byte("a\r\nb\r\nc\r\nd\r\n\x1b[3J"))
	if got := strings.Join(s.Text(0, 99), "|"); got != "-|d|" {
		t.Errorf("it has %q", got)
	}
	feed(t, s, 0, []byte(strings.Repeat("x\r\n", 9)+"\x1b[3J"))
	if got := strings.Join(s.Text(0, 99), "|"); got != "x|" {
		t.Errorf("it has %q", got)
	}
	s.Close()
}
