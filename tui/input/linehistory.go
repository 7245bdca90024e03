package input

// Bounds of what can be brought back: steps of undo, lines of the history, and pieces
// in all of the ones or the others together. A line of 256 kB has as many pieces.
const (
	maxUndo       = 100
	maxHistory    = 500
	maxKeptPieces = 1 << 20
)

// Take empties the line and remembers what it held in the history.
func (c *Line) Take() {
	c.remember(c.Pieces)
	c.clear()
}

// remember puts a line into the history, unless it is the newest there already.
func (c *Line) remember(pieces []Piece) {
	n := len(c.history)
	if len(pieces) > 0 && (n == 0 || TextOf(c.history[n-1].pieces) != TextOf(pieces)) {
		c.history = newest(append(c.history, lineState{pieces, len(pieces)}), maxHistory)
	}
}

// clear empties the line, history and all that is kept.
func (c *Line) clear() {
	c.Pieces, c.Cursor, c.undo, c.typing = nil, 0, nil, false
	c.recall = len(c.history)
}

// PutBack restores a line that could not be carried out, and says where it is: in the
// history when another one has been begun meanwhile.
func (c *Line) PutBack(pieces []Piece) (where string) {
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

// older and newer walk through the history; the line that was being written
// waits behind the newest entry.
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
