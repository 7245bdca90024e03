package paint

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// player is a terminal that shows what a painter writes.
type player struct {
	screen *term.Screen
	frame  term.Frame
}

func newPlayer(t testing.TB, cols, rows int) *player {
	t.Helper()
	s, err := term.NewScreen(term.Options{Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &player{screen: s}
	p.write([]byte("\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[?2027h"))
	return p
}

func (p *player) write(b []byte) {
	if _, err := p.screen.Write(b); err != nil {
		panic(err)
	}
	p.screen.Snapshot(&p.frame, 0)
}

// difference says where the terminal does not show the canvas; it is "" when it does.
func (p *player) difference(c *Canvas, o Options) string {
	for y := range c.rows {
		for x := range c.cols {
			got := seen(p.frame.Lines[y].Cells[x], Options{})
			want := seen(c.Cell(x, y), o)
			if got != want {
				return fmt.Sprintf("column %d of row %d: %+v, want %+v\n%s", x, y, got, want, p.text())
			}
		}
	}
	cur, want := p.frame.Cursor, c.cursor
	if cur.Visible != want.Visible || want.Visible && cur != want {
		return fmt.Sprintf("cursor %+v, want %+v", cur, want)
	}
	return ""
}

func (p *player) text() string {
	var b strings.Builder
	for _, l := range p.frame.Lines {
		for _, c := range l.Cells {
			if c.Width > 0 {
				b.WriteRune(max(c.Rune, ' '))
				b.WriteString(c.Marks)
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// look describes how a cell looks on a terminal with options.
type look struct {
	text  string
	width uint8
	pen   pen
}

func seen(cell term.Cell, o Options) look {
	if cell.Width == 0 {
		return look{}
	}
	cell = tidy(cell)
	l := look{text: " ", width: cell.Width, pen: o.pen(cell.Style)}
	if cell.Rune != 0 {
		l.text = strings.TrimSuffix(string(cell.Rune)+cell.Marks, "\u200d")
	} else if l.pen.plain() {
		l.pen = pen{bg: l.pen.bg}
	}
	return l
}

var (
	colors = rapid.SampledFrom([]term.Color{0, 0, term.PaletteColor(1), term.PaletteColor(9), term.PaletteColor(200), term.RGB(10, 200, 30), term.RGB(128, 128, 128)})
	texts  = rapid.SampledFrom([]string{"a", "hello", "漢字", "e\u0301", "👍", "", " ", "x y", "wide漢end", "👨\u200d👩\u200d👧", "─│┌", "tail   ", "\x1b[31mno", "a\tb", strings.Repeat("=", 30)})
	styles = rapid.Custom(func(t *rapid.T) term.Style {
		if rapid.Bool().Draw(t, "plain") {
			return term.Style{}
		}
		s := term.Style{
			FG:        colors.Draw(t, "fg"),
			BG:        colors.Draw(t, "bg"),
			Attr:      term.Attr(rapid.IntRange(0, 255).Draw(t, "attr")),
			Underline: term.Underline(rapid.IntRange(0, 5).Draw(t, "underline")),
			Link:      rapid.SampledFrom([]string{"", "", "https://example.org/a?b;c", "file:///etc/passwd", "https://e\x1b\\x"}).Draw(t, "link"),
		}
		if s.Underline != term.NoUnderline {
			s.UnderlineColor = colors.Draw(t, "line")
		}
		return s
	})
)

// scribble draws something at random, also outside the canvas.
func scribble(t *rapid.T, c *Canvas) {
	x, y := rapid.IntRange(-3, c.cols).Draw(t, "x"), rapid.IntRange(-1, c.rows).Draw(t, "y")
	switch rapid.IntRange(0, 7).Draw(t, "what") {
	case 0:
		c.Fill(x, y, rapid.IntRange(0, c.cols).Draw(t, "w"), rapid.IntRange(0, c.rows).Draw(t, "h"), styles.Draw(t, "style"))
	case 1:
		c.SetCursor(term.Cursor{X: x, Y: y, Visible: true, Shape: term.CursorShape(rapid.IntRange(0, 6).Draw(t, "shape"))})
	case 2:
		c.HideCursor()
	case 3:
		scrollCanvas(c, rapid.IntRange(-3, 3).Draw(t, "by"))
	case 4:
		c.Restyle(x, y, 4, 2, func(s term.Style) term.Style { s.Attr ^= term.Inverse; return s })
	case 5:
		c.Redraw(x, y, rapid.IntRange(0, c.cols).Draw(t, "w"), rapid.IntRange(0, c.rows).Draw(t, "h"))
	default:
		c.text(x, y, styles.Draw(t, "style"), texts.Draw(t, "text"))
	}
}

// scrollCanvas moves all rows up by n.
func scrollCanvas(c *Canvas, n int) {
	old := append([]term.Cell(nil), c.cells...)
	for y := range c.rows {
		if from := y + n; from >= 0 && from < c.rows {
			c.row(0, y, old[from*c.cols:(from+1)*c.cols])
		} else {
			c.Fill(0, y, c.cols, 1, term.Style{})
		}
	}
}

// TestPaintShowsTheCanvas draws at random and checks after every frame that a
// terminal shows exactly the canvas, whatever was painted before.
func TestPaintShowsTheCanvas(t *testing.T) {
	for _, o := range []Options{{}, {Colors: ANSI256}, {Colors: ANSI16}, {Colors: NoColor}} {
		t.Run(o.Colors.String(), func(outer *testing.T) {
			rapid.Check(outer, func(t *rapid.T) {
				cols, rows := rapid.IntRange(1, 24).Draw(t, "cols"), rapid.IntRange(1, 14).Draw(t, "rows")
				play, canvas, painter := newPlayer(outer, cols, rows), NewCanvas(cols, rows), NewPainter(o)
				painter.Clusters(true)
				for range rapid.IntRange(1, 6).Draw(t, "frames") {
					for range rapid.IntRange(0, 6).Draw(t, "strokes") {
						scribble(t, canvas)
					}
					frame := painter.Paint(canvas)
					play.write(frame)
					if d := play.difference(canvas, o); d != "" {
						t.Fatalf("after %q: %s", frame, d)
					}
					if again := painter.Paint(canvas); again != nil {
						t.Fatalf("nothing changed, and yet it paints %q", again)
					}
				}
			})
		})
	}
}

// TestFramesReachTheTerminal runs bytes through a screen, its frame through a
// canvas beside chrome, and checks that they come out again.
func TestFramesReachTheTerminal(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"hello ", "\r\n", "\x1b[31m", "\x1b[m", "漢", "\x1b[2J", "\x1b[3;5H", "e\u0301", "\x1b[1;44m", "\x1b[K", "\n\n\n", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4:3m", "\x1b[5;1r\x1b[M", "\x1b[L", "\x1b[?25l", "\x1b[?25h"})
	rapid.Check(t, func(rt *rapid.T) {
		const cols, rows, x, y, w, h = 40, 12, 3, 2, 30, 8
		inner, err := term.NewScreen(term.Options{Cols: w, Rows: h})
		if err != nil {
			rt.Fatal(err)
		}
		defer inner.Close()
		play, canvas, painter := newPlayer(t, cols, rows), NewCanvas(cols, rows), NewPainter(Options{})
		painter.Clusters(true)
		var frame term.Frame
		for range 8 {
			for range rapid.IntRange(0, 5).Draw(rt, "pieces") {
				if _, err := inner.Write([]byte(pieces.Draw(rt, "piece"))); err != nil {
					rt.Fatal(err)
				}
			}
			inner.Snapshot(&frame, rapid.IntRange(0, 3).Draw(rt, "offset"))
			canvas.text(rapid.IntRange(0, cols).Draw(rt, "x"), rapid.IntRange(0, rows).Draw(rt, "y"), term.Style{Attr: term.Bold}, "chrome漢")
			canvas.Frame(x, y, w, h, &frame, 0, 0)
			canvas.FrameCursor(x, y, w, h, &frame, 0, 0)
			play.write(painter.Paint(canvas))
			if d := play.difference(canvas, Options{}); d != "" {
				rt.Fatal(d)
			}
			for row := range h {
				for col := range w {
					got, want := seen(canvas.Cell(x+col, y+row), Options{}), seen(frame.Lines[row].Cells[col], Options{})
					if got != want {
						rt.Fatalf("pane column %d of row %d: %+v, want %+v", col, row, got, want)
					}
				}
			}
		}
	})
}
