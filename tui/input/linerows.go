package input

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// LineRow is one row of the command line: its sanitized text, and the column of the
// cursor in it, or -1.
type LineRow struct {
	Text   string
	Cursor int
}

// Rows lays the line out for a width.
func (c *Line) Rows(width int) []LineRow {
	rows := []LineRow{{Cursor: -1}}
	used := 0
	for i := 0; ; i++ {
		if i == c.Cursor {
			rows[len(rows)-1].Cursor = used
		}
		if i == len(c.Pieces) {
			return rows
		}
		text := drawnPiece(c.Pieces[i])
		w := view.TextWidth(text)
		if used+w > width && used > 0 {
			rows = append(rows, LineRow{Cursor: -1})
			used = 0
			if i == c.Cursor {
				rows[len(rows)-2].Cursor = -1
				rows[len(rows)-1].Cursor = 0
			}
		}
		row := &rows[len(rows)-1]
		if c.Pieces[i].Text == "\n" {
			rows = append(rows, LineRow{Cursor: -1})
			used = 0
			continue
		}
		row.Text += text
		used += w
	}
}

// drawnPiece returns the text by which a cluster is drawn.
func drawnPiece(p Piece) string {
	if p.Text == " " {
		return " "
	}
	return text.Drawable(p.Text)
}

// PromptOf returns the first prompt for the agent that a command line contains: the
// pieces behind " -- ". They keep whether they were typed or pasted.
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
