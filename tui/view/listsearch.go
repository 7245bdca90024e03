package view

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// listMatch is a match of the query in a list: a run of cells of one row, or of several rows if the
// text is wrapped there.
type listMatch []MarkedRow

// Search searches for a text, and shows the first match from a row on. Stepping past the last match
// leads to the first one. An empty text ends the search. The search ignores case unless the text has a
// capital letter.
func (l *List) Search(text string, at Rect, from int) {
	l.query, l.match = text, 0
	rows := l.lay(at)
	all := l.matches(rows)
	for i := range all {
		if all[i][0].Y >= from {
			l.match = i
			break
		}
	}
	l.showMatch(all)
}

// Step shows the match n places further; after the last comes the first.
func (l *List) Step(n int, at Rect) {
	all := l.matches(l.lay(at))
	if len(all) > 0 {
		l.match = ((l.match+n)%len(all) + len(all)) % len(all)
	}
	l.showMatch(all)
}

// Query returns the query of the search; empty: there is no search.
func (l *List) Query() string { return l.query }

// Found says which of how many matches is shown; empty: there is no search.
func (l *List) Found(at Rect) string {
	switch all := l.matches(l.lay(at)); {
	case l.query == "":
		return ""
	case len(all) == 0:
		return "no match"
	default:
		return fmt.Sprintf("match %d of %d", min(l.match, len(all)-1)+1, len(all))
	}
}

// showMatch scrolls to the present match, unless the list shows it already.
func (l *List) showMatch(all []listMatch) {
	if l.match >= len(all) {
		return
	}
	row, last := all[l.match][0].Y, all[l.match][len(all[l.match])-1].Y
	if row < l.YOffset() || last >= l.YOffset()+l.Height() {
		l.SetYOffset(max(0, row-l.Height()/3))
	}
}

// matches returns all matches of the query.
func (l *List) matches(rows []listRow) (out []listMatch) {
	if l.query == "" {
		return nil
	}
	for begin := 0; begin < len(rows); {
		end := begin + 1
		for end < len(rows) && rows[end].line == rows[begin].line {
			end++
		}
		out = append(out, matchesIn(rows[begin:end], begin, l.query)...)
		begin = end
	}
	return out
}

// matchesIn returns the matches of a query in the rows of one line. number is the number of the first
// row. A wrapped text is searched as one text; a key and the text about it are two texts.
func matchesIn(rows []listRow, number int, query string) (out []listMatch) {
	type cell struct{ row, column, width int } // of a byte; the blank between two rows has no width
	var read strings.Builder
	var cells []cell
	add := func(row, column int, s string) {
		for _, r := range s {
			w := TextWidth(string(r))
			for range len(string(r)) {
				cells = append(cells, cell{row, column, w})
			}
			read.WriteRune(r)
			column += w
		}
	}
	for _, left := range []bool{true, false} {
		for i, row := range rows {
			s, column := row.right, 1+row.indent
			if left {
				s, column = row.left, 1
			}
			if s == "" {
				continue
			}
			if read.Len() > 0 {
				add(number+i, 0, " ")
				cells[len(cells)-1].width = 0
			}
			add(number+i, column, s)
		}
	}
	whole := read.String()
	for from := 0; ; {
		i := text.Index(whole[from:], query)
		if i < 0 {
			return out
		}
		var found listMatch
		for _, c := range cells[from+i : from+i+len(query)] {
			switch last := len(found) - 1; {
			case c.width == 0:
			case last < 0 || found[last].Y != c.row || found[last].To < c.column:
				found = append(found, MarkedRow{c.row, c.column, c.column + c.width})
			default:
				found[last].To = c.column + c.width
			}
		}
		if len(found) > 0 {
			out = append(out, found)
		}
		from += i + len(query)
	}
}

// mark marks the matches that are drawn; the present match stands out. first is the first row that is
// drawn.
func (l *List) mark(s *Surface, all []listMatch, first int, theme Theme) {
	for i, match := range all {
		style := theme.Selection
		if i == l.match {
			style.Attr |= term.Bold
			style.Underline = term.SingleUnderline
		}
		for _, m := range match {
			if y := 1 + m.Y - first; y >= 1 && y < s.At.H {
				for x := m.From; x < min(m.To, s.At.W); x++ {
					s.Row(y)[x].Style = style
				}
			}
		}
	}
}
