package term

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResize(t *testing.T) {
	type size struct{ cols, rows int }
	tests := []struct {
		name   string
		from   size
		input  string
		to     []size
		want   []string // scrollback and screen
		x, y   int
		scroll int
	}{
		{"narrower wraps", size{10, 3}, "abcdefghij\r\nk", []size{{4, 3}}, []string{"abcd", "efgh", "ij", "k"}, 1, 2, 1},
		{"and back", size{10, 3}, "abcdefghij\r\nk", []size{{4, 3}, {10, 3}}, []string{"abcdefghij", "k", ""}, 1, 1, 0},
		{"wider joins", size{4, 4}, "abcdefgh\r\nx", []size{{8, 4}}, []string{"abcdefgh", "x", "", ""}, 1, 1, 0},
		{"hard breaks stay", size{4, 3}, "abcd\r\nefgh", []size{{9, 3}}, []string{"abcd", "efgh", ""}, 4, 1, 0},
		{"wide characters stay whole", size{6, 3}, "漢字漢x", []size{{5, 3}, {3, 5}}, []string{"漢", "字", "漢x", "", ""}, 2, 2, 0},
		{"wide characters join again", size{5, 3}, "漢字漢x", []size{{7, 3}}, []string{"漢字漢x", "", ""}, 6, 0, 0},
		{"lower drops empty rows first", size{9, 5}, "a\r\nb", []size{{9, 3}}, []string{"a", "b", ""}, 1, 1, 0},
		{"lower scrolls", size{9, 3}, "a\r\nb\r\nc", []size{{9, 2}}, []string{"a", "b", "c"}, 1, 1, 1},
		{"taller takes back", size{9, 2}, "a\r\nb\r\nc", []size{{9, 4}}, []string{"a", "b", "c", ""}, 1, 2, 0},
		{"one by one", size{9, 3}, "ab\r\ncd", []size{{1, 1}, {9, 3}}, []string{"ab", "cd", ""}, 1, 1, 0},
		{"the cursor right of the text", size{20, 3}, "abc\x1b[1;15H", []size{{10, 3}}, []string{"abc", "", ""}, 9, 0, 0},
		{"color right of the text does not wrap", size{10, 3}, "\x1b[44mab\x1b[K\r\nc", []size{{4, 3}}, []string{"ab", "c", ""}, 1, 1, 0},
		{"nor does that which scrolling left", size{6, 1}, "\x1b[44mabcdefgh", []size{{4, 1}}, []string{"abcd", "efgh"}, 3, 0, 1},
		{"colored filler before a wide character goes", size{5, 2}, "abcd\x1b[31m漢", []size{{8, 2}}, []string{"abcd漢", ""}, 6, 0, 0},
		{"erased text does not come back", size{10, 2}, "abcdefghij\x1b[2K", []size{{4, 2}}, []string{"", ""}, 3, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, engine := range []string{"native", "vt10x"} {
				s := play(t, engine, tt.from.cols, tt.from.rows, 0, []byte(tt.input))
				for _, to := range tt.to {
					s.Resize(to.cols, to.rows)
					checkWhole(t, s)
				}
				checkFaultless(t, s)
				var f Frame
				s.Snapshot(&f, 0)
				if diff := cmp.Diff(tt.want, s.Text(0, 99)); diff != "" {
					t.Error(engine, diff)
				}
				if f.Scrollback != tt.scroll {
					t.Errorf("%s: %d lines of scrollback, want %d", engine, f.Scrollback, tt.scroll)
				}
				if f.Cursor.X != tt.x || f.Cursor.Y != tt.y {
					t.Errorf("%s: cursor at %d,%d, want %d,%d", engine, f.Cursor.X, f.Cursor.Y, tt.x, tt.y)
				}
				s.Close()
			}
		})
	}
}

// Wrapping narrower and back leaves every line of the scrollback as it was.
func TestScrollbackSurvivesRewrap(t *testing.T) {
	s := play(t, "native", 120, 40, 4096, readStream(t, "claude_session"))
	defer s.Close()
	content := func() string {
		var b strings.Builder
		for i := range s.LineCount() {
			cells, wrapped := s.Line(i)
			writeText(&b, cells)
			if !wrapped {
				b.WriteByte('\n')
				continue
			}
			next, _ := s.Line(i + 1)
			if cols, _ := s.Size(); len(next) == 0 || next[0].Width != 2 {
				b.WriteString(strings.Repeat(" ", cols-len(cells)))
			}
		}
		return strings.TrimRight(b.String(), "\n")
	}
	before := content()
	for _, cols := range []int{77, 40, 133, 120} {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			s.Resize(cols, 40)
			checkWhole(t, s)
			if diff := cmp.Diff(before, content()); diff != "" {
				t.Fatalf("at %d columns: %s", cols, diff)
			}
		})
	}
}

func TestAlternateScreenIsCut(t *testing.T) {
	s := play(t, "native", 10, 4, 0, []byte("main line\r\nx\x1b[?1049h\x1b[Htop\x1b[4;1Hbottom"))
	defer s.Close()
	s.Resize(5, 2)
	if diff := cmp.Diff([]string{"", "botto"}, s.Text(0, 9)); diff != "" {
		t.Error(diff)
	}
	_, _ = s.Write([]byte("\x1b[?1049l"))
	if diff := cmp.Diff([]string{"main", "line", "x"}, s.Text(0, 9)); diff != "" {
		t.Error(diff)
	}
}

func TestScrollbackIsBounded(t *testing.T) {
	for _, tt := range []struct{ lines, want int }{{0, 15_000 - 9}, {-1, 0}, {7, 7}} {
		t.Run(fmt.Sprint(tt.lines), func(t *testing.T) {
			s, err := NewScreen(Options{Cols: 20, Rows: 10, Scrollback: tt.lines})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = s.Write([]byte(strings.Repeat("x\r\n", 15_000)))
			var f Frame
			s.Snapshot(&f, 0)
			if want := min(tt.want, defaultScrollback); f.Scrollback != want {
				t.Errorf("scrollback %d keeps %d lines, want %d", tt.lines, f.Scrollback, want)
			}
			s.Close()
		})
	}
}

// Selective erasing spares characters that were protected before a resize, wherever
// they moved, and no cell shows the protection.
func TestResizeKeepsProtection(t *testing.T) {
	for _, engine := range []string{"native", "vt10x"} {
		t.Run(engine, func(t *testing.T) {
			for _, screen := range []string{"", "\x1b[?1049h"} {
				s := play(t, engine, 8, 3, 0, []byte(screen+"ab\x1b[1\"q漢cd\x1b[0\"qef\r\ngh"))
				s.Resize(8, 4)
				if screen == "" {
					s.Resize(5, 4)
					s.Resize(9, 4)
				}
				checkWhole(t, s)
				var f Frame
				s.Snapshot(&f, 0)
				for _, line := range f.Lines {
					for _, c := range line.Cells {
						if c.Style != (Style{}) {
							t.Fatalf("%s: a cell shows it: %+v", engine, c)
						}
					}
				}
				_, _ = s.Write([]byte("\x1b[?2J"))
				if diff := cmp.Diff([]string{"  漢cd", "", "", ""}, s.Text(0, 99)); diff != "" {
					t.Error(engine, diff)
				}
				s.Close()
			}
		})
	}
}
