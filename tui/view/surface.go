package view

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
)

// Rect is a part of the screen, in cells.
type Rect = layout.Rect

// Surface is a rectangle of cells that the multiplexer draws itself. Text that is written to it is
// clipped to it, and control characters never become cells.
type Surface struct {
	At    Rect
	Cells []term.Cell // rows of At.W cells
}

// NewSurface makes a surface filled with blanks of one style.
func NewSurface(at Rect, fill term.Style) *Surface {
	s := &Surface{At: at, Cells: make([]term.Cell, max(0, at.W*at.H))}
	for i := range s.Cells {
		s.Cells[i] = term.Cell{Width: 1, Style: fill}
	}
	return s
}

// Row returns the cells of one row.
func (s *Surface) Row(y int) []term.Cell { return s.Cells[y*s.At.W : (y+1)*s.At.W] }

// Text draws a string from column x of row y on and returns the column after it. It does not draw
// characters beyond the right edge.
func (s *Surface) Text(x, y int, text string, style term.Style) int {
	if y < 0 || y >= s.At.H {
		return x
	}
	row := s.Row(y)
	state := -1
	for len(text) > 0 {
		if narrow(text[0]) && (len(text) == 1 || narrow(text[1])) {
			if x >= s.At.W {
				return x
			}
			if x >= 0 {
				row[x] = term.Cell{Rune: rune(text[0]), Width: 1, Style: style}
			}
			x++
			text, state = text[1:], -1
			continue
		}
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		r, size := utf8.DecodeRuneInString(cluster)
		if w < 1 || r < ' ' || r == 0x7f {
			continue
		}
		if x+w > s.At.W {
			return x
		}
		if x >= 0 {
			row[x] = term.Cell{Rune: r, Marks: cluster[size:], Width: uint8(w), Style: style}
			for i := 1; i < w; i++ {
				row[x+i] = term.Cell{Style: style}
			}
		}
		x += w
	}
	return x
}

// Sanitized draws sanitized text and gives its escapes a style of their own.
func (s *Surface) Sanitized(x, y int, clean string, style, escapes term.Style) int {
	for len(clean) > 0 {
		n := tokenLength(clean)
		token := clean[:n]
		if token[0] == '\\' || token == string(text.VisibleSpace) {
			x = s.Text(x, y, token, escapes)
		} else {
			x = s.Text(x, y, token, style)
		}
		clean = clean[n:]
	}
	return x
}

// Right draws a string so that it ends in column end (exclusive) of the first
// row and returns the column where it begins. It draws nothing when there is
// no room.
func (s *Surface) Right(end int, text string, style term.Style) int {
	x := end - TextWidth(text)
	if x < 0 {
		return end
	}
	s.Text(x, 0, text, style)
	return x
}

// Line draws a line in a row between the columns from and end, and leaves a blank at both ends.
func (s *Surface) Line(y, from, end int, line term.Style) {
	for x := max(0, from+1); x < min(end-1, s.At.W); x++ {
		s.Text(x, y, "─", line)
	}
}

// Heading draws the first row of a list: a title, and a line up to the right edge.
func (s *Surface) Heading(title string, theme Theme) {
	x := s.Text(1, 0, Clip(title, s.At.W-2), theme.Title)
	s.Line(0, x, s.At.W+1, theme.Border)
}

// Waiting draws the first row of something that waits for the person: a title whose first words stand
// out, and a line up to column end.
func (s *Surface) Waiting(title string, end int, theme Theme) {
	first, rest, more := strings.Cut(title, " · ")
	x := s.Text(0, 0, " "+first+" ", theme.Attention)
	if more {
		x = s.Text(x, 0, "· "+rest, theme.Notice)
	}
	s.Line(0, x, end, theme.Waits)
}

// Gutter draws a line down column 0 of a surface whose first row has no line.
func (s *Surface) Gutter(line term.Style) {
	for y := range s.At.H {
		s.Text(0, y, "┃", line)
	}
}

// Fill gives a whole row one style and blanks it.
func (s *Surface) Fill(y int, style term.Style) {
	for i, row := 0, s.Row(y); i < len(row); i++ {
		row[i] = term.Cell{Width: 1, Style: style}
	}
}

// frame returns the surface as a frame that can be copied to a canvas. The surface must
// not be changed afterwards.
func (s *Surface) frame() *term.Frame {
	f := &term.Frame{Cols: s.At.W, Rows: s.At.H, Generation: 1}
	for y := range s.At.H {
		f.Lines = append(f.Lines, term.Line{Cells: s.Row(y), Generation: 1})
	}
	return f
}

// String returns the text of the surface, for tests and for debugging.
func (s *Surface) String() string {
	var b strings.Builder
	for y := range s.At.H {
		b.WriteString(strings.TrimRight(CellText(s.Row(y)), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// CellText returns the text of a row of cells, with blanks as spaces.
func CellText(cells []term.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		switch {
		case c.Width == 0:
		case c.Rune == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.Rune)
			b.WriteString(c.Marks)
		}
	}
	return b.String()
}
