package paint

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// pane is a screen shown on a canvas and painted, with a first frame done.
type pane struct {
	screen  *term.Screen
	frame   term.Frame
	canvas  *Canvas
	painter *Painter
}

func newPane(t testing.TB, cols, rows int) *pane {
	t.Helper()
	s, err := term.NewScreen(term.Options{Cols: cols, Rows: rows - 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &pane{screen: s, canvas: NewCanvas(cols, rows), painter: NewPainter(Options{})}
	p.canvas.Fill(0, 0, cols, 1, term.Style{BG: term.PaletteColor(4)})
	p.canvas.text(1, 0, term.Style{BG: term.PaletteColor(4)}, "tab 1")
	p.canvas.text(0, rows-1, term.Style{}, "status")
	p.paint(t, "$ ")
	return p
}

// paint has the program write and returns the frame that follows.
func (p *pane) paint(t testing.TB, output string) string {
	t.Helper()
	return string(p.bytes(t, []byte(output)))
}

func (p *pane) bytes(t testing.TB, output []byte) []byte {
	t.Helper()
	if _, err := p.screen.Write(output); err != nil {
		t.Fatal(err)
	}
	p.screen.Snapshot(&p.frame, 0)
	cols, rows := p.canvas.Size()
	p.canvas.Frame(0, 1, cols, rows-2, &p.frame, 0, 0)
	p.canvas.FrameCursor(0, 1, cols, rows-2, &p.frame, 0, 0)
	return p.painter.Paint(p.canvas)
}

func TestFrameBytes(t *testing.T) {
	filled := strings.Repeat("some line of text that is long enough to matter\r\n", 60)
	tests := []struct {
		name, before, output string
		want                 string // exactly, when not empty
		most                 int    // bytes
	}{
		{name: "an echoed character", output: "x", want: "x"},
		{name: "a word", output: "hello", want: "hello"},
		{name: "nothing", output: "\x1b[m", most: 0},
		{name: "a space in color", before: "\x1b[31mred", output: " ", want: "\x1b[C"},
		{name: "a prompt that ends in a space", before: "\r\n", output: "$ ", want: "$ "},
		{name: "backspace", before: "abc", output: "\b \b", most: 8},
		{name: "a spinner", before: "\x1b[?25l\r⠋ working\r", output: "⠙\r", most: 8},
		{name: "a spinner above the cursor", before: "⠋ working\r\n\n> ", output: "\x1b7\x1b[1;1H⠙\x1b8", most: 20},
		{name: "a cleared line", before: "a long line of text", output: "\r\x1b[K", most: 6},
		{name: "a new line at the bottom", before: filled, output: "next\r\n", most: 70},
		{name: "an inner scroll", before: filled, output: "\x1b[5;20r\x1b[20;1H\nnext\x1b[r", most: 80},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPane(t, 80, 24)
			if tt.before != "" {
				p.paint(t, tt.before)
			}
			got := p.paint(t, tt.output)
			switch {
			case tt.want != "" && got != tt.want:
				t.Errorf("%q, want %q", got, tt.want)
			case tt.want == "" && len(got) > tt.most:
				t.Errorf("%d bytes, want at most %d: %q", len(got), tt.most, got)
			}
		})
	}
}

func TestFramesAreBracketed(t *testing.T) {
	p := newPane(t, 80, 24)
	got := p.paint(t, "a\r\nb\r\nc")
	if !strings.HasPrefix(got, syncBegin+hideCursor) || !strings.HasSuffix(got, showCursor+syncEnd) {
		t.Errorf("several rows, painted as %q", got)
	}
	p.painter.Synchronized(true)
	if got := p.paint(t, "\x1b[Ha\r\nB\r\nC"); strings.Contains(got, hideCursor) || !strings.HasPrefix(got, syncBegin) {
		t.Errorf("a terminal that synchronizes, painted as %q", got)
	}
}

func TestRedrawDrawsRowsThatDifferInOnePiece(t *testing.T) {
	p := newPane(t, 80, 24)
	p.paint(t, "\x1b[2J\x1b[Hone line\r\nof AAA many")
	p.canvas.Redraw(0, 1, 80, 22)
	if got := p.paint(t, "\x1b[2;4HBBB\x1b[2;12H"); !strings.Contains(got, "of BBB many") || strings.Contains(got, "one line") {
		t.Errorf("painted as %q", got)
	}
	if got := p.paint(t, "\x1b[2;4HCCC\x1b[2;12H"); !strings.Contains(got, "CCC") || strings.Contains(got, "many") {
		t.Errorf("painted as a whole once more: %q", got)
	}
}

func TestAPromptIsWrittenInOnePiece(t *testing.T) {
	p := newPane(t, 80, 24)
	p.canvas.Fill(0, 1, 80, 22, term.Style{BG: term.PaletteColor(4)})
	p.painter.Paint(p.canvas)
	if got := p.paint(t, "\x1b[2J\x1b[H$ "); !strings.Contains(got, "$ \x1b[K") {
		t.Errorf("over another picture, painted as %q", got)
	}
}

func TestUnchangedLinesAreNotRead(t *testing.T) {
	p := newPane(t, 80, 24)
	p.paint(t, "one\r\ntwo")
	p.frame.Lines[0].Cells[0].Rune = 'X' // without a new generation
	if got := p.paint(t, ""); got != "" {
		t.Errorf("a line of the same generation is painted: %q", got)
	}
	p.canvas.text(0, 1, term.Style{}, "?")
	if got := p.paint(t, ""); !strings.Contains(got, "X") {
		t.Errorf("a line that was drawn over is not restored: %q", got)
	}
}

func TestHostileCells(t *testing.T) {
	c, p := NewCanvas(20, 1), NewPainter(Options{})
	p.Paint(c)
	c.row(0, 0, []term.Cell{
		{Rune: 0x1b, Width: 1},
		{Rune: 0x9b, Width: 1},
		{Rune: '\n', Width: 1},
		{Rune: 0x202e, Width: 1},
		{Rune: -5, Width: 1},
		{Rune: 'a', Marks: "\x1b[2J\u202e\u0301\a", Width: 1},
		{Rune: 'b', Width: 7},
		{Width: 0},
		{Rune: '漢', Width: 2},
		{Rune: 'c', Width: 1},
		{Rune: 'd', Width: 1, Style: term.Style{Link: "https://x\x1b\\\x1b[2J"}},
		{Rune: 'e', Width: 1, Style: term.Style{Link: "file:///etc/passwd"}},
		{Rune: 'f', Width: 1, Style: term.Style{Link: "https://example.org/"}},
	})
	got := string(p.Paint(c))
	for _, bad := range []string{"[2J", "\u202e", "\a", "\u009b", "file:", "\n"} {
		t.Run(bad, func(t *testing.T) {
			if strings.Contains(got, bad) {
				t.Errorf("%q is painted: %q", bad, got)
			}
		})
	}
	if !strings.Contains(got, "\x1b]8;;https://example.org/\x1b\\f") || !strings.Contains(got, "a\u0301") {
		t.Errorf("what is harmless is not painted: %q", got)
	}
	if n := strings.Count(got, "\ufffd"); n != 5 {
		t.Errorf("%d replacement characters, want 5: %q", n, got)
	}
}

func TestClustersOfAPlainTerminal(t *testing.T) {
	c, p := NewCanvas(10, 1), NewPainter(Options{})
	p.Paint(c)
	c.text(0, 0, term.Style{}, "👨\u200d👩x")
	if got := string(p.Paint(c)); strings.Contains(got, "👩") || !strings.Contains(got, "👨") {
		t.Errorf("painted as %q", got)
	}
}

func TestPaintAllocatesNothing(t *testing.T) {
	p := newPane(t, 200, 50)
	p.paint(t, strings.Repeat("warm \x1b[31mup\x1b[m\r\n", 60))
	output := [][]byte{[]byte("x"), []byte("\b \b"), []byte("\x1b[32mline\x1b[m\r\n")}
	i := 0
	if n := testing.AllocsPerRun(300, func() {
		p.bytes(t, output[i%len(output)])
		i++
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkEcho(b *testing.B) {
	p := newPane(b, 200, 50)
	keys := [][]byte{[]byte("x"), []byte("\b \b")}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if len(p.bytes(b, keys[i&1])) == 0 {
			b.Fatal("nothing painted")
		}
		i++
	}
}

func BenchmarkFull(b *testing.B) {
	p := newPane(b, 200, 50)
	p.paint(b, strings.Repeat("\x1b[31mred\x1b[m and plain text of some length, over and over ", 190))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p.painter.Invalidate()
		n = len(p.painter.Paint(p.canvas))
	}
	b.ReportMetric(float64(n), "bytes/frame")
}

func BenchmarkScroll(b *testing.B) {
	p := newPane(b, 200, 50)
	p.paint(b, strings.Repeat("a line of text that is not very long, in \x1b[32mgreen\x1b[m and plain\r\n", 60))
	lines := [][]byte{[]byte("the next line\r\n"), []byte("and another one\r\n")}
	i, n := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		n = len(p.bytes(b, lines[i&1]))
		i++
	}
	b.ReportMetric(float64(n), "bytes/frame")
}
