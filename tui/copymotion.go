package tui

import (
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// act carries out motions and selection keys.
func (c *copyState) act(a input.Action) {
	switch a {
	case input.ActCopySelect, input.ActCopyLines:
		whole := a == input.ActCopyLines
		if c.selecting && c.wholeLine == whole {
			c.selecting = false
			return
		}
		if !c.selecting {
			c.anchor = c.cursor
		}
		c.selecting, c.wholeLine = true, whole
	case input.ActCopySwap:
		c.cursor, c.anchor = c.anchor, c.cursor
	default:
		c.motion(a)
	}
	c.follow()
}

// motion moves the cursor.
func (c *copyState) motion(a input.Action) {
	width, _ := c.screen().Size()
	switch a {
	case input.ActCopyLeft:
		c.cursor.X--
	case input.ActCopyRight:
		c.cursor.X++
	case input.ActCopyUp:
		c.cursor.Line--
	case input.ActCopyDown:
		c.cursor.Line++
	case input.ActCopyPageUp:
		c.cursor.Line -= max(1, c.rows-1)
	case input.ActCopyPageDn:
		c.cursor.Line += max(1, c.rows-1)
	case input.ActCopyHalfUp:
		c.cursor.Line -= max(1, c.rows/2)
	case input.ActCopyHalfDn:
		c.cursor.Line += max(1, c.rows/2)
	case input.ActCopyTop:
		c.cursor = point{}
	case input.ActCopyBottom:
		c.cursor = point{0, c.total() - 1}
	case input.ActCopyStart:
		c.cursor.X = 0
	case input.ActCopyFirst:
		c.cursor.X = firstLetter(c.lineRunes(c.cursor.Line))
	case input.ActCopyLineEnd:
		c.cursor.X = max(0, len(c.lineRunes(c.cursor.Line))-1)
	case input.ActCopyWord:
		c.wordForward(false)
	case input.ActCopyWordEnd:
		c.wordForward(true)
	case input.ActCopyBack:
		c.wordBack()
	}
	c.cursor.Line = min(max(0, c.cursor.Line), c.total()-1)
	c.cursor.X = min(max(0, c.cursor.X), max(0, width-1))
}

// toPrompt goes to the next prompt or the one before, and reports whether there is one.
func (c *copyState) toPrompt(before bool) bool {
	to := -1
	for _, line := range c.screen().Prompts() {
		if line < c.cursor.Line && before {
			to = line
		}
		if line > c.cursor.Line && !before {
			to = line
			break
		}
	}
	if to < 0 {
		return false
	}
	c.cursor = point{0, to}
	c.follow()
	return true
}

// follow scrolls the view so that the cursor is in it.
func (c *copyState) follow() {
	c.top = min(c.top, c.cursor.Line)
	c.top = max(c.top, c.cursor.Line-c.rows+1)
}

// moveView scrolls the view by n lines and takes the cursor along where it
// would be left behind.
func (c *copyState) moveView(n int) {
	c.top = min(max(0, c.top+n), max(0, c.total()-c.rows))
	c.cursor.Line = min(max(c.top, c.cursor.Line), c.top+c.rows-1)
}

// lineRunes is a line as one rune for each column; second halves of wide
// characters are 0.
func (c *copyState) lineRunes(i int) []rune {
	cells, _ := c.screen().Line(i)
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

// charClass tells blanks, words and the rest apart, as vi does.
func charClass(r rune) int {
	switch {
	case r == 0 || unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
		return 1
	}
	return 2
}

// wordForward goes to the start of the next word, or to the end of it.
func (c *copyState) wordForward(toEnd bool) {
	line := c.lineRunes(c.cursor.Line)
	at := func(x int) int {
		if x < len(line) {
			return charClass(line[x])
		}
		return 0
	}
	x := c.cursor.X
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
		if x < len(line) || c.cursor.Line >= c.total()-1 {
			break
		}
		c.cursor.Line++
		line, x = c.lineRunes(c.cursor.Line), 0
	}
	if toEnd {
		for class := at(x); x+1 < len(line) && at(x+1) == class; {
			x++
		}
	}
	c.cursor.X = x
}

// wordBack goes to the start of the word before.
func (c *copyState) wordBack() {
	line := c.lineRunes(c.cursor.Line)
	x := min(c.cursor.X, len(line)) - 1
	for {
		for x >= 0 && charClass(line[x]) == 0 {
			x--
		}
		if x >= 0 || c.cursor.Line == 0 {
			break
		}
		c.cursor.Line--
		line = c.lineRunes(c.cursor.Line)
		x = len(line) - 1
	}
	for x > 0 && charClass(line[x-1]) == charClass(line[x]) {
		x--
	}
	c.cursor.X = max(0, x)
}
