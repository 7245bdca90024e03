package view

import (
	"fmt"

	"charm.land/bubbles/v2/viewport"
)

// Line is one line of a list: a key or a name, and the text about it.
type Line struct {
	Key  string // or empty: a heading or plain text
	Text string
	Head bool
}

// List is a list of lines below a title, which a person can scroll: the help screen and other texts.
type List struct {
	viewport.Model
	Title string
	Lines []Line
	query string // of the search; its matches are marked
	match int    // the index of the present match
}

// NewList makes a list that shows its first line.
func NewList(title string, lines []Line) List {
	return List{Model: viewport.New(), Title: title, Lines: lines}
}

// listRow is a row of a list, laid out for the width.
type listRow struct {
	left, right string
	indent      int
	head        bool
	line        int // of Lines
}

// rows lays the lines out: keys in a column of their own if there is room, else above their texts.
func (l *List) rows(width int) []listRow {
	column := 26
	if width < 50 {
		column = 0
	}
	var out []listRow
	for i, l := range l.Lines {
		first := len(out)
		switch {
		case l.Key == "":
			for _, row := range WrapWords(l.Text, width) {
				out = append(out, listRow{left: row, head: l.Head})
			}
		case column == 0 || TextWidth(l.Key) > column-2:
			for _, row := range Wrap(l.Key, width) {
				out = append(out, listRow{left: row})
			}
			for _, row := range WrapWords(l.Text, max(1, width-max(2, column))) {
				out = append(out, listRow{right: row, indent: max(2, column)})
			}
		default:
			rows := WrapWords(l.Text, width-column)
			out = append(out, listRow{left: l.Key, right: rows[0], indent: column})
			for _, row := range rows[1:] {
				out = append(out, listRow{right: row, indent: column})
			}
		}
		for y := range out[first:] {
			out[first+y].line = i
		}
	}
	return out
}

// Lay lays the list out for a part of the screen, below the title. The scroll position
// stays as far as possible.
func (l *List) Lay(at Rect) { l.lay(at) }

func (l *List) lay(at Rect) []listRow {
	rows := l.rows(max(1, at.W-2))
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = row.left + row.right
	}
	l.SetWidth(at.W)
	l.SetHeight(at.H - 1)
	l.SetContentLines(lines)
	return rows
}

// ShowLine scrolls so that a line is the first one shown, in the part of the screen for which the
// list is laid out.
func (l *List) ShowLine(line int) {
	for y, row := range l.rows(max(1, l.Width()-2)) {
		if row.line == line {
			l.SetYOffset(y)
			return
		}
	}
}

// Draw draws the list over a part of the screen.
func (l *List) Draw(at Rect, theme Theme) *Surface {
	s := NewSurface(at, theme.Body)
	rows := l.lay(at)
	first := l.YOffset()
	last := first + l.VisibleLineCount()
	title := l.Title
	if below := len(rows) - last; below > 0 {
		title += fmt.Sprintf(" · %d more ↓", below)
	}
	s.Heading(title, theme)
	for y, row := range rows[first:last] {
		left, right := theme.Label, theme.Body
		if row.head {
			left = theme.Notice
		}
		s.Text(1, 1+y, row.left, left)
		s.Text(1+row.indent, 1+y, row.right, right)
	}
	l.mark(s, l.matches(rows), first, theme)
	return s
}
