package term

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fuzzSeeds are sequences that have broken terminals.
var fuzzSeeds = []string{
	"\x1b[-5P\x1b[-5@\x1b[9223372036854775807I\x1b[9223372036854775807Z",
	"日本語\x1b[b000\x1b]52;c;QUJ\x07",
	"日本語\x1b[2G\x1b[P\x1b[4hx\x1b[1@\x1b[999@\x1b[X",
	"\x1b[3;5r\x1b[?6h\x1b[99A\x1bM\x1b[99S\x1b[99T\x1b[99L\x1b[99M",
	"a\x1b[1000000000b\x1b[?2027h👩‍💻🇫🇷❤️\x1b[b",
	"\x1b]0;title\x1b\\\x1b]8;;https://example.com\x07link\x1b]8;;\x07\x1b]52;c;aGk=\x07\x1bP$qm\x1b\\",
	"\x1b[?1049h\x1b[38;2;1;2;3;48:2::4:5:6;4:3mX\x1b#8\x1b[?1049l\x1b7\x1b8\x1bc",
	"\xe6\x97\xf0\x9f\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe6",
	"\U000f0000\U0010fffc\U0010fffd\U0010ffff e\u0301\u0301\u0301",
	"\x1b(0lqk\x1b)A\x0e#\x0f\x1bN#\x1bO#\x1b%G\x1b-A",
	"\x1b[?69h\x1b[3;9sab日本語日本語日本語\x1b[2@\x1b[3P\x1b[L\x1b[M\x1b[S\x1b[T\x1b6\x1b9\x1b['}\x1b['~\b\x1b[9D日\u0301",
	"日本語日本\x1b[42;1;2;3;6$x\x1b[1;2;3;5;1;2;3$v\x1b[1;1;2;4$z\x1b[1;1;2;4${\x1b[2*x\x1b[1;2;3;4;1;7$r\x1b[1;2;3;4;4$t\x1b[1;1;1;1;9;9*y",
	"\x1b]4;1;#fff;2;rgb:1/2/3;200;CIELab:1/2/3;256;rgbi:1/0/1\x07\x1b[31mx\x1b]10;#111;#222;#333\x07\x1b]4;1;?\x07\x1b]104;1\x07\x1b]11;TekHVC:9/9/9\x07\x1b]111\x07",
	"\x1b[?47h\x1b[31m日e\u0301\x1b[?47lx\x1b[?47h\x1bVy\x1bW\x1b[2J\x1b[?2J\x1b[?1;47;69s\x1b[?47l\x1b[?1;47;69r\x1b[?40h\x1b[?3h\x1b[62\"p\x1b[?42h\x1b(K[\x1bP+q436f\x1b\\",
	"\x1b[?45h\x1b[2;4r\x1b[?6h\b\b\x1b[99999Dx\x1b[?45h0123456789012345678901234567890\x1b[44D",
	"\x1b[?2026h\x1b[?2048h\x1b[?1003;1006h\x1b[>5u\x1b[=1;2u\x1b[<9u\x1b[>4;2m\x1b[?u\x1b[c\x1b[6n",
}

func addSeeds(f *testing.F) {
	f.Helper()
	for i, seed := range fuzzSeeds {
		f.Add([]byte(seed), uint8(20+i), uint8(6), uint8(i*7), uint16(i))
	}
	for _, name := range []string{"claude_onboarding", "unicode_cat", "nano"} {
		raw, err := os.ReadFile("testdata/streams/" + name + ".raw")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:min(len(raw), 3000)], uint8(80), uint8(24), uint8(5), uint16(500))
	}
}

// fuzzScreen plays input with a resize in the middle.
func fuzzScreen(t *testing.T, engine string, input []byte, cols, rows, resize uint8, chunk int) *Screen {
	t.Helper()
	s, err := NewScreen(Options{Cols: int(cols) % 100, Rows: int(rows) % 30, Engine: engine, Scrollback: 100})
	if err != nil {
		t.Fatal(err)
	}
	half := len(input) / 2
	feed := func(p []byte) {
		for len(p) > 0 {
			n := min(chunk, len(p))
			_, _ = s.Write(p[:n])
			p = p[n:]
		}
	}
	feed(input[:half])
	if resize > 0 {
		s.Resize(int(resize)%100, int(cols)%30)
	}
	feed(input[half:])
	return s
}

// screenState is everything in which two screens could differ.
type screenState struct {
	frame   Frame
	replies string
	lines   [][]Cell
	wrapped []bool
}

func stateOf(s *Screen) *screenState {
	var state screenState
	s.Snapshot(&state.frame, 0)
	state.replies = string(s.TakeReplies())
	for i := range s.LineCount() {
		cells, wrapped := s.Line(i)
		state.lines = append(state.lines, cells)
		state.wrapped = append(state.wrapped, wrapped)
	}
	return &state
}

// differs describes the first difference, or is empty.
func (a *screenState) differs(b *screenState) string {
	switch {
	case len(a.lines) != len(b.lines):
		return fmt.Sprintf("%d lines or %d", len(a.lines), len(b.lines))
	case a.frame.Cursor != b.frame.Cursor:
		return fmt.Sprintf("cursor %+v or %+v", a.frame.Cursor, b.frame.Cursor)
	case a.frame.Modes != b.frame.Modes:
		return fmt.Sprintf("modes %+v or %+v", a.frame.Modes, b.frame.Modes)
	case a.frame.Title != b.frame.Title:
		return fmt.Sprintf("title %q or %q", a.frame.Title, b.frame.Title)
	case a.replies != b.replies:
		return fmt.Sprintf("answers %q or %q", a.replies, b.replies)
	}
	for i := range a.lines {
		if !slices.Equal(a.lines[i], b.lines[i]) {
			return fmt.Sprintf("line %d is\n%v or\n%v", i, a.lines[i], b.lines[i])
		}
		if a.wrapped[i] != b.wrapped[i] {
			return fmt.Sprintf("line %d runs on: %v or %v", i, a.wrapped[i], b.wrapped[i])
		}
	}
	return ""
}

func checkFaultless(t rapid.TB, s *Screen) {
	t.Helper()
	if times, fault := s.Fault(); times > 0 {
		t.Fatal("the emulator failed:", fault)
	}
}

// checkWhole fails when a row holds half a wide character.
func checkWhole(t rapid.TB, s *Screen) {
	t.Helper()
	var f Frame
	s.Snapshot(&f, 0)
	for y := range f.Lines {
		cells := f.Lines[y].Cells
		if len(cells) != f.Cols {
			t.Fatalf("row %d has %d cells, not %d", y, len(cells), f.Cols)
		}
		for x := range cells {
			lead := x > 0 && cells[x-1].Width == 2
			if tail := cells[x].Width == 0; tail != lead {
				t.Fatalf("cell %d,%d: width %d after width 2: %v", x, y, cells[x].Width, lead)
			}
		}
		if cells[f.Cols-1].Width == 2 {
			t.Fatalf("row %d ends in the middle of a wide character", y)
		}
	}
	if c := f.Cursor; c.X < 0 || c.X >= f.Cols || c.Y < 0 || c.Y >= f.Rows {
		t.Fatalf("cursor %+v is outside", c)
	}
}

// Whatever a program writes, the screen does not fail, shows no half characters, and
// does not depend on how the bytes were split.
func FuzzScreen(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte, cols, rows, resize uint8, chunk uint16) {
		if len(input) > 64<<10 {
			return
		}
		s := fuzzScreen(t, "native", input, cols, rows, resize, max(1, len(input)))
		defer s.Close()
		checkFaultless(t, s)
		checkWhole(t, s)
		cut := fuzzScreen(t, "native", input, cols, rows, resize, int(chunk%97)+1)
		defer cut.Close()
		if diff := stateOf(s).differs(stateOf(cut)); diff != "" {
			t.Fatal("whole or in pieces:", diff)
		}
	})
}

// Both stores show the same.
func FuzzStores(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, input []byte, cols, rows, resize uint8, _ uint16) {
		if len(input) > 16<<10 {
			return
		}
		native := fuzzScreen(t, "native", input, cols, rows, resize, 4096)
		defer native.Close()
		other := fuzzScreen(t, "vt10x", input, cols, rows, resize, 4096)
		defer other.Close()
		checkFaultless(t, native)
		checkFaultless(t, other)
		if diff := stateOf(native).differs(stateOf(other)); diff != "" {
			t.Fatal("native or vt10x:", diff)
		}
	})
}
