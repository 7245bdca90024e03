package input

// Bounds of what is kept: steps of undo, lines of the history, and the pieces in all
// steps of undo together, as well as in all lines of the history. A line of 256 kB has up
// to 262144 pieces.
const (
	maxUndo       = 100
	maxHistory    = 500
	maxKeptPieces = 1 << 20
)

// Take empties the line and adds its text to the history.
func (c *Line) Take() {
	c.remember(c.Pieces)
	c.clear()
}

// remember adds a line to the history, unless the newest line there has the same text.
func (c *Line) remember(pieces []Piece) {
	n := len(c.history)
	if len(pieces) > 0 && (n == 0 || TextOf(c.history[n-1].pieces) != TextOf(pieces)) {
		c.history = newest(append(c.history, lineState{pieces, len(pieces)}), maxHistory)
	}
}

// clear empties the line and drops the steps of undo. The history stays.
func (c *Line) clear() {
	c.Pieces, c.Cursor, c.undo, c.typing, c.search = nil, 0, nil, false, lineSearch{}
	c.recall = len(c.history)
}

// PutBack restores a line whose command could not be carried out, and returns words for where it
// is now. If the person has begun another line meanwhile, it goes into the history.
func (c *Line) PutBack(pieces []Piece) (where string) {
	c.StopSearch()
	if c.Empty() {
		c.restore(lineState{pieces, len(pieces)})
		return "on the command line"
	}
	browsing := c.recall < len(c.history)
	c.remember(pieces)
	if !browsing {
		c.recall = len(c.history)
	}
	return "in the history of the command line"
}

// older and newer go through the history. The line that was being written is kept and
// comes after the newest entry.
func (c *Line) older() bool {
	if c.recall == 0 || len(c.history) == 0 {
		return false
	}
	if c.recall >= len(c.history) {
		c.draft = lineState{append([]Piece(nil), c.Pieces...), c.Cursor}
		c.recall = len(c.history)
	}
	c.recall--
	c.restore(c.history[c.recall])
	return true
}

func (c *Line) newer() bool {
	if c.recall >= len(c.history) {
		return false
	}
	c.recall++
	if c.recall == len(c.history) {
		c.restore(c.draft)
	} else {
		c.restore(c.history[c.recall])
	}
	return true
}
