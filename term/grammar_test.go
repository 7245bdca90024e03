package term

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSequence draws one thing that a program may write.
func drawSequence(t *rapid.T) string {
	number := rapid.SampledFrom([]string{"", "0", "1", "2", "3", "5", "9", "20", "999", "2147483648"})
	n := func() string { return number.Draw(t, "n") }
	pick := func(s ...string) string { return rapid.SampledFrom(s).Draw(t, "pick") }
	switch rapid.IntRange(0, 15).Draw(t, "kind") {
	case 0, 1, 2:
		return pick("a", "bc", "hello world", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", " ", "    ", "-")
	case 3, 4:
		return pick("日", "本語", "한", "é", "e\u0301", "日\u0301", "🎉", "─", "👩\u200d💻", "⚠\ufe0f", "🇫🇷", "1\ufe0f\u20e3", "\U000f1234", "न\u094dदी", "❤\ufe0e")
	case 5:
		return pick("\r\n", "\n", "\r", "\b", "\t", "\x1bD", "\x1bM", "\x1bE", "\x1bH")
	case 6, 7:
		return "\x1b[" + n() + pick("@", "A", "B", "C", "D", "E", "F", "G", "I", "J", "K", "L", "M", "P", "S", "T", "X", "Z", "b", "d", "g", "e")
	case 8:
		return "\x1b[" + n() + ";" + n() + pick("H", "f", "r")
	case 9:
		return "\x1b[" + pick("", "1", "4:3", "7", "9", "31", "48;5;20", "38;2;1;2;3", "58:2::1:2:3", "22", "27", "39;49", "1;4;33;44") + "m"
	case 10:
		return pick("\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l", "\x1b[?2027h", "\x1b[?2027l",
			"\x1b7", "\x1b8", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[!p", "\x1b#8")
	case 11:
		return "\x1b[" + pick(n()+" @", n()+" A", n()+"'}", n()+"'~", "1\"q", "0\"q", "?J", "?1J", "?2J", "?K", "?1K", "?45h\b\b\b", "m\u0301")
	case 12:
		return pick("\x1b[?69h", "\x1b[?69l", "\x1b[?69h\x1b["+n()+";"+n()+"s", "\x1b6", "\x1b9", "\x1b[?45h", "\x1b[?45l", "\x1b[?41h", "\x1bV", "\x1bW", "\x1b[?40h\x1b[?3h")
	case 13:
		corners := n() + ";" + n() + ";" + n() + ";" + n()
		return "\x1b[" + pick(corners+"$z", corners+"${", "42;"+corners+"$x", "1;"+corners+"*y", "1;1;"+corners+"*y",
			corners+";1;7$r", corners+";4$t", "2*x", corners+";1;"+n()+";"+n()+"$v")
	case 14:
		return pick("\x1b]4;1;#123\x07", "\x1b]104\x07", "\x1b]10;#fff;#000\x07", "\x1b]110\x07\x1b]111\x07", "\x1b[?7;47;69s", "\x1b[?7;47;69r", "\x1b[62\"p", "\x1b[64\"p", "\x1b[?42h\x1b(K[", "\x1b[6n")
	}
	return pick("\x1b(0", "\x1b(B", "\x0e", "\x0f", "\x1b)0", "\x1bN", "\x1b]8;;http://a\x07", "\x1b]8;;\x07", "\x1b]2;t\x07", "\x1bc", "\x1b[3g", "\x1b]133;A\x07")
}

// drawProgram draws the whole output of a program, in pieces between which the
// screen is resized.
func drawProgram(t *rapid.T) []string {
	var pieces []string
	for range rapid.IntRange(1, 3).Draw(t, "pieces") {
		var b strings.Builder
		for range rapid.IntRange(1, 40).Draw(t, "length") {
			b.WriteString(drawSequence(t))
		}
		pieces = append(pieces, b.String())
	}
	return pieces
}

// Both stores show the same, however the bytes are split.
func TestStoresAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := drawProgram(rt)
		type size struct{ cols, rows int }
		sizes := make([]size, len(pieces))
		for i := range sizes {
			sizes[i] = size{rapid.IntRange(1, 40).Draw(rt, "cols"), rapid.IntRange(1, 12).Draw(rt, "rows")}
		}
		chunk := rapid.IntRange(1, 9).Draw(rt, "chunk")
		show := func(engine string, chunk int) *screenState {
			s, err := NewScreen(Options{Cols: sizes[0].cols, Rows: sizes[0].rows, Engine: engine, Scrollback: 30})
			if err != nil {
				rt.Fatal(err)
			}
			defer s.Close()
			for i, piece := range pieces {
				s.Resize(sizes[i].cols, sizes[i].rows)
				for p := []byte(piece); len(p) > 0; {
					n := min(chunk, len(p))
					_, _ = s.Write(p[:n])
					p = p[n:]
				}
				checkWhole(rt, s)
			}
			checkFaultless(rt, s)
			return stateOf(s)
		}
		native := show("native", 1<<20)
		if diff := native.differs(show("vt10x", 1<<20)); diff != "" {
			rt.Fatal("native or vt10x:", diff)
		}
		if diff := native.differs(show("native", chunk)); diff != "" {
			rt.Fatal("whole or in pieces:", diff)
		}
	})
}

// Packing and unpacking a line does not change it.
func TestPackedLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, err := NewScreen(Options{Cols: 40, Rows: 4})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		for range rapid.IntRange(1, 30).Draw(rt, "length") {
			_, _ = s.Write([]byte(drawSequence(rt)))
		}
		e := s.emulator
		for y := range e.rows {
			row := e.grid.row(y, nil)
			want := trimBlank(e.appendCells(nil, row))
			state := e.rowStates()[y]
			for how, packed := range map[string][]byte{
				"glyphs": append([]byte(nil), e.history.pack.glyphs(e, row, state)...),
				"cells":  append([]byte(nil), e.history.pack.cells(want, state)...),
			} {
				got := unpack(nil, packed, e.widths)
				if fmt.Sprint(trimBlank(got)) != fmt.Sprint(want) {
					rt.Fatalf("row %d packed from %s is %v, want %v", y, how, got, want)
				}
				if len(got) != packedColumns(packed) {
					rt.Fatalf("row %d packed from %s says %d columns and has %d", y, how, packedColumns(packed), len(got))
				}
				if p := packedState(packed); p.continues != state.continues || p.prompt != state.prompt {
					rt.Fatalf("row %d packed from %s has state %+v, want %+v", y, how, p, state)
				}
			}
		}
	})
}
