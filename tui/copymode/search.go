package copymode

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// searchBlock is how many lines are taken from the screen at a time.
const searchBlock = 512

// find looks for the query in all lines, beginning at the cursor.
func (c *State) find(backward bool) (Point, bool) {
	total := c.total()
	step := 1
	if backward {
		step = -1
	}
	block, first := []string(nil), -1
	for n := 0; n <= total; n++ {
		i := ((c.Cursor.Line+n*step)%total + total) % total
		if first < 0 || i < first || i >= first+len(block) {
			first = i - i%searchBlock
			block = c.Screen.Text(first, searchBlock)
		}
		if i-first >= len(block) {
			continue
		}
		hits := c.matches(i, block[i-first])
		if x, ok := c.pick(hits, n == 0, backward); ok {
			return Point{x, i}, true
		}
	}
	return Point{}, false
}

// pick chooses a match in one line. On the line where the search begins, only matches
// beyond the cursor count; on all others, and when the search comes back to that line, any
// match counts.
func (c *State) pick(hits []view.MarkedRow, begins, backward bool) (int, bool) {
	if backward {
		for i := len(hits) - 1; i >= 0; i-- {
			if !begins || hits[i].From < c.Cursor.X {
				return hits[i].From, true
			}
		}
		return 0, false
	}
	for _, h := range hits {
		if !begins || h.From > c.Cursor.X {
			return h.From, true
		}
	}
	return 0, false
}

// matches returns the places of the query in line i, which has this text.
func (c *State) matches(i int, text string) []view.MarkedRow {
	fold := c.Query == strings.ToLower(c.Query)
	if fold {
		text = strings.ToLower(text)
	}
	if !strings.Contains(text, c.Query) {
		return nil
	}
	cells, _ := c.Screen.Line(i)
	return matches(cells, c.Query, fold)
}

// matches returns the places of a query in a line, in columns. A match includes all
// columns of each character that it touches.
func matches(cells []term.Cell, query string, fold bool) []view.MarkedRow {
	var line strings.Builder
	var columns []int // for each byte of line, its column
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

// hits returns the matches of the last search in a view that is height rows high.
func (c *State) hits(height int) []view.MarkedRow {
	if c.Query == "" {
		return nil
	}
	var out []view.MarkedRow
	for y, line := range c.Screen.Text(c.Top, height) {
		for _, h := range c.matches(c.Top+y, line) {
			h.Y = y
			out = append(out, h)
		}
	}
	return out
}
