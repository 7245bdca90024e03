package copymode

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// search is the search of copy mode: the query and its matches.
type search struct {
	Searching bool // the person is typing a query into Line
	Backward  bool // the direction of the search
	Line      input.Line
	Query     string

	from struct { // where copy mode was before the search
		cursor    Point
		top, left int
		query     string
	}
	hits []Point // of the query, in reading order, at most mostHits; count updates them
}

// searchBlock is how many lines are read from the screen at a time.
const searchBlock = 512

// mostHits is how many matches are counted.
const mostHits = 9999

// beginSearch lets the person type a query.
func (c *State) beginSearch(backward bool) {
	c.Searching, c.Backward, c.Line = true, backward, input.Line{}
	c.from.cursor, c.from.top, c.from.left, c.from.query = c.Cursor, c.Top, c.Left, c.Query
}

// searchKey handles a key while a query is typed. The cursor is at the first match meanwhile.
func (c *State) searchKey(k *input.Keys, name, text string) Outcome {
	switch a := k.At(input.PlaceCommand, name); {
	case a == input.ActLeave || name == "ctrl+c", a == input.ActBackspace && c.Line.Empty():
		c.Searching = false
		c.backToStart()
		c.Query = c.from.query
		c.count()
		return Stay
	case a == input.ActEnter:
		c.Searching = false
		if c.Line.Empty() {
			return c.next(c.Backward)
		}
		if len(c.hits) == 0 {
			return NotFound
		}
		return Stay
	case a != "":
		c.Line.Edit(a)
	case input.Printable(text):
		c.Line.Insert(text, false)
	}
	c.Typed()
	return Stay
}

// Typed searches for the query as it is typed now, from where the search began.
func (c *State) Typed() {
	c.backToStart()
	if c.Query = c.from.query; !c.Line.Empty() {
		c.Query = c.Line.Text()
	}
	c.count()
	if !c.Line.Empty() && len(c.hits) > 0 {
		c.next(c.Backward)
	}
}

// backToStart shows what was shown before the search.
func (c *State) backToStart() { c.Cursor, c.Top, c.Left = c.from.cursor, c.from.top, c.from.left }

// next goes to the next match and continues at the other end of the lines. The search
// is case-sensitive only when the query has capital letters.
func (c *State) next(backward bool) Outcome {
	if c.Query == "" {
		return NoQuery
	}
	to, ok := c.find(backward)
	if !ok {
		return NotFound
	}
	c.Cursor = to
	c.follow()
	return Stay
}

// count finds all matches of the query.
func (c *State) count() {
	c.hits = nil
	for first := 0; c.Query != "" && first < c.total() && len(c.hits) < mostHits; first += searchBlock {
		for i, text := range c.Screen.Text(first, searchBlock) {
			for _, h := range c.matches(first+i, text) {
				c.hits = append(c.hits, Point{h.From, first + i})
			}
		}
	}
	c.hits = c.hits[:min(len(c.hits), mostHits)]
}

// Found returns the number of matches, and which one the cursor is at; empty without a query.
func (c *State) Found() string {
	n, all := len(c.hits), strconv.Itoa(len(c.hits))
	if n == mostHits {
		all += " or more"
	}
	at, is := slices.BinarySearchFunc(c.hits, c.Cursor, func(p, q Point) int {
		return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.X, q.X))
	})
	switch {
	case c.Query == "" || c.Searching && c.Line.Empty():
		return ""
	case n == 0:
		return "no match"
	case is:
		return fmt.Sprintf("match %d of %s", at+1, all)
	}
	return all + " found"
}

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

// matches returns the places of the query in line i, whose text is text.
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

// shown returns the matches of the last search in a view that is height rows high.
func (c *State) shown(height int) []view.MarkedRow {
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
