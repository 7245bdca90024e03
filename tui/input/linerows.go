package input

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// LineRow is one row of the command line: which pieces it has, and the column of the cursor
// in it, or -1.
type LineRow struct {
	from, to int
	Cursor   int
}

// Rows lays the line out for a width.
func (c *Line) Rows(width int) []LineRow {
	rows := []LineRow{{Cursor: -1}}
	used := 0
	begin := func(at int) {
		rows[len(rows)-1].to = at
		rows = append(rows, LineRow{from: at, Cursor: -1})
		used = 0
	}
	for i, p := range c.Pieces {
		w := pieceWidth(p)
		if used+w > width && used > 0 {
			begin(i)
		}
		if i == c.Cursor {
			rows[len(rows)-1].Cursor = used
		}
		if used += w; p.Text == lineEnd {
			begin(i + 1)
		}
	}
	last := &rows[len(rows)-1]
	if last.to = len(c.Pieces); c.Cursor == last.to {
		last.Cursor = used
	}
	return rows
}

// RowText returns the sanitized text of a row of the line.
func (c *Line) RowText(r LineRow) string {
	var b strings.Builder
	for _, p := range c.Pieces[r.from:r.to] {
		if p.Text != lineEnd {
			b.WriteString(drawnPiece(p))
		}
	}
	return b.String()
}

// lineEnd is the piece that ends a row.
const lineEnd = "\n"

// pieceWidth returns how many columns a cluster takes.
func pieceWidth(p Piece) int {
	if p.Text == lineEnd {
		return 0
	}
	if len(p.Text) == 1 && p.Text[0] >= ' ' && p.Text[0] < 0x7f && p.Text[0] != '\\' {
		return 1
	}
	return view.TextWidth(drawnPiece(p))
}

// drawnPiece returns the text that is drawn for a cluster.
func drawnPiece(p Piece) string {
	if p.Text == " " {
		return " "
	}
	return text.Drawable(p.Text)
}

// PromptOf returns the first prompt for the agent that a command line contains: the
// pieces after " -- ". They keep whether they were typed or pasted.
func PromptOf(line []Piece) []Piece {
	text := TextOf(line)
	at := strings.Index(text, " -- ")
	if at < 0 {
		return nil
	}
	begin, offset := 0, 0
	for ; offset < at+len(" -- "); begin++ {
		offset += len(line[begin].Text)
	}
	end := len(line)
	for begin < end && blankPiece(line[begin]) {
		begin++
	}
	for end > begin && blankPiece(line[end-1]) {
		end--
	}
	return line[begin:end:end]
}

func blankPiece(p Piece) bool { return strings.TrimSpace(p.Text) == "" }
