package copymode

import (
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// act carries out the actions that select or move the cursor.
func (c *State) act(a input.Action) {
	switch a {
	case input.ActCopySelect:
		c.toggle(shapeText)
	case input.ActCopyLines:
		c.toggle(shapeLines)
	case input.ActCopyBlock:
		c.toggle(shapeBlock)
	case input.ActCopySwap:
		c.Cursor, c.anchor = c.anchor, c.Cursor
	case input.ActCopyMark:
		c.mark = c.Cursor
	case input.ActCopyToMark:
		c.Cursor, c.mark = c.mark, c.Cursor
	default:
		c.motion(a)
	}
	c.follow()
}

// toggle begins a selection of a shape. It changes the shape of an existing selection, and ends a
// selection that has this shape already.
func (c *State) toggle(s shape) {
	if c.selecting && c.shape == s {
		c.selecting = false
		return
	}
	if !c.selecting {
		c.anchor = c.Cursor
	}
	c.selecting, c.shape = true, s
}

// motion moves the cursor.
func (c *State) motion(a input.Action) {
	width, _ := c.Screen.Size()
	switch a {
	case input.ActCopyLeft:
		c.Cursor.X--
	case input.ActCopyRight:
		c.Cursor.X++
	case input.ActCopyUp:
		c.Cursor.Line--
	case input.ActCopyDown:
		c.Cursor.Line++
	case input.ActCopyPageUp:
		c.Cursor.Line -= max(1, c.rows-1)
	case input.ActCopyPageDn:
		c.Cursor.Line += max(1, c.rows-1)
	case input.ActCopyHalfUp:
		c.Cursor.Line -= max(1, c.rows/2)
	case input.ActCopyHalfDn:
		c.Cursor.Line += max(1, c.rows/2)
	case input.ActCopyTop:
		c.Cursor = Point{}
	case input.ActCopyBottom:
		c.Cursor = Point{0, c.total() - 1}
	case input.ActCopyStart:
		c.Cursor.X = 0
	case input.ActCopyFirst:
		c.Cursor.X = firstLetter(c.lineRunes(c.Cursor.Line))
	case input.ActCopyLineEnd:
		c.Cursor.X = max(0, len(c.lineRunes(c.Cursor.Line))-1)
	case input.ActCopyWord:
		c.wordForward(false)
	case input.ActCopyWordEnd:
		c.wordForward(true)
	case input.ActCopyBack:
		c.wordBack()
	}
	c.Cursor.Line = min(max(0, c.Cursor.Line), c.total()-1)
	c.Cursor.X = min(max(0, c.Cursor.X), max(0, width-1))
}

// toPrompt goes to the next prompt or the one before, and reports whether there is one.
func (c *State) toPrompt(before bool) bool {
	to := -1
	for _, line := range c.Screen.Prompts() {
		if line < c.Cursor.Line && before {
			to = line
		}
		if line > c.Cursor.Line && !before {
			to = line
			break
		}
	}
	if to < 0 {
		return false
	}
	c.Cursor = Point{0, to}
	c.follow()
	return true
}

// follow scrolls the view so that the cursor is in it.
func (c *State) follow() {
	c.Top = min(c.Top, c.Cursor.Line)
	c.Top = max(c.Top, c.Cursor.Line-c.rows+1)
	c.Left = max(min(c.Left, c.Cursor.X), c.Cursor.X-c.cols+1)
}

// MoveView scrolls the view by n lines, and moves the cursor only as far as it needs to
// stay in the view.
func (c *State) MoveView(n int) {
	c.Top = min(max(0, c.Top+n), max(0, c.total()-c.rows))
	c.Cursor.Line = min(max(c.Top, c.Cursor.Line), c.Top+c.rows-1)
}

// lineRunes returns a line as one rune for each column. The second half of a wide
// character is 0.
func (c *State) lineRunes(i int) []rune {
	cells, _ := c.Screen.Line(i)
	out := make([]rune, len(cells))
	for x, cell := range cells {
		switch {
		case cell.Width == 0:
		case cell.Rune == 0:
			out[x] = ' '
		default:
			out[x] = cell.Rune
		}
	}
	return out
}

func firstLetter(line []rune) int {
	for x, r := range line {
		if !unicode.IsSpace(r) {
			return x
		}
	}
	return 0
}

// charClass distinguishes blanks, characters of words and all others, as vi does.
func charClass(r rune) int {
	switch {
	case r == 0 || unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
		return 1
	}
	return 2
}

// wordForward goes to the start of the next word, or to the next end of a word.
func (c *State) wordForward(toEnd bool) {
	line := c.lineRunes(c.Cursor.Line)
	at := func(x int) int {
		if x < len(line) {
			return charClass(line[x])
		}
		return 0
	}
	x := c.Cursor.X
	if toEnd {
		x++
	} else {
		for class := at(x); x < len(line) && class != 0 && at(x) == class; {
			x++
		}
	}
	for {
		for x < len(line) && at(x) == 0 {
			x++
		}
		if x < len(line) || c.Cursor.Line >= c.total()-1 {
			break
		}
		c.Cursor.Line++
		line, x = c.lineRunes(c.Cursor.Line), 0
	}
	if toEnd {
		for class := at(x); x+1 < len(line) && at(x+1) == class; {
			x++
		}
	}
	c.Cursor.X = x
}

// wordBack goes to the start of the word before.
func (c *State) wordBack() {
	line := c.lineRunes(c.Cursor.Line)
	x := min(c.Cursor.X, len(line)) - 1
	for {
		for x >= 0 && charClass(line[x]) == 0 {
			x--
		}
		if x >= 0 || c.Cursor.Line == 0 {
			break
		}
		c.Cursor.Line--
		line = c.lineRunes(c.Cursor.Line)
		x = len(line) - 1
	}
	for x > 0 && charClass(line[x-1]) == charClass(line[x]) {
		x--
	}
	c.Cursor.X = max(0, x)
}
