package tui

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// searchBlock is how many lines are taken from the screen at a time.
const searchBlock = 512

// onSearchKey edits the search, and Enter starts it.
func (m *Model) onSearchKey(name, text string) {
	c := &m.copying
	switch a := m.keys.At(input.PlaceCommand, name); {
	case a == input.ActLeave || name == "ctrl+c":
		c.searching = false
	case a == input.ActEnter:
		c.searching = false
		if !c.line.Empty() {
			c.query = c.line.Text()
		}
		m.search(c.backward)
	case a == input.ActBackspace && c.line.Empty():
		c.searching = false
	case a != "":
		c.line.Edit(a)
	case text != "" && strings.IndexFunc(text, unicode.IsControl) < 0:
		c.line.Insert(text, false)
	}
}

// search goes to the next match, around the ends. Capital letters count only
// when the search has some.
func (m *Model) search(backward bool) {
	c := &m.copying
	if c.query == "" {
		m.showError(&hinted{errors.New("nothing to search for yet"), "/ searches forward, ? backward"})
		return
	}
	if to, ok := c.find(backward); ok {
		c.cursor = to
		c.follow()
		return
	}
	m.showError(fmt.Errorf("not found: %s", view.Sanitize(c.query)))
}

// find looks for the query from the cursor on, through all lines.
func (c *copyState) find(backward bool) (point, bool) {
	total := c.total()
	step := 1
	if backward {
		step = -1
	}
	block, first := []string(nil), -1
	for n := 0; n <= total; n++ {
		i := ((c.cursor.Line+n*step)%total + total) % total
		if first < 0 || i < first || i >= first+len(block) {
			first = i - i%searchBlock
			block = c.screen().Text(first, searchBlock)
		}
		if i-first >= len(block) {
			continue
		}
		hits := c.matches(i, block[i-first])
		if x, ok := c.pick(hits, n == 0, backward); ok {
			return point{x, i}, true
		}
	}
	return point{}, false
}

// pick chooses a match of one line: behind the cursor on the line where the
// search begins, any elsewhere and when the search has come around to that line.
func (c *copyState) pick(hits []view.MarkedRow, begins, backward bool) (int, bool) {
	if backward {
		for i := len(hits) - 1; i >= 0; i-- {
			if !begins || hits[i].From < c.cursor.X {
				return hits[i].From, true
			}
		}
		return 0, false
	}
	for _, h := range hits {
		if !begins || h.From > c.cursor.X {
			return h.From, true
		}
	}
	return 0, false
}

// matches are the places of the query in line i, whose text is known.
func (c *copyState) matches(i int, text string) []view.MarkedRow {
	fold := c.query == strings.ToLower(c.query)
	if fold {
		text = strings.ToLower(text)
	}
	if !strings.Contains(text, c.query) {
		return nil
	}
	cells, _ := c.screen().Line(i)
	return matches(cells, c.query, fold)
}

// matches are the places of a query in a line, in columns. A match takes all of the
// columns of the characters that it takes a part of.
func matches(cells []term.Cell, query string, fold bool) []view.MarkedRow {
	var line strings.Builder
	var columns []int // of each byte of line
	for x := range cells {
		text := view.CellText(cells[x : x+1])
		if fold {
			text = strings.ToLower(text)
		}
		line.WriteString(text)
		for range len(text) {
			columns = append(columns, x)
		}
	}
	var out []view.MarkedRow
	for from, text := 0, line.String(); ; {
		i := strings.Index(text[from:], query)
		if i < 0 {
			return out
		}
		first := columns[from+i]
		from += i + len(query)
		last := columns[from-1]
		out = append(out, view.MarkedRow{From: first, To: last + int(cells[last].Width)})
	}
}

// hits are the matches of the last search in the view.
func (m *Model) hits(at view.Rect) []view.MarkedRow {
	c := &m.copying
	if c.query == "" {
		return nil
	}
	var out []view.MarkedRow
	for y, line := range c.screen().Text(c.top, at.H) {
		for _, h := range c.matches(c.top+y, line) {
			h.Y = y
			out = append(out, h)
		}
	}
	return out
}
