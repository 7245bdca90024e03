package tui

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// maxLine bounds the command line, in bytes.
const maxLine = 256 << 10

// piece is one grapheme cluster of the command line and how it came in.
type piece struct {
	text   string
	pasted bool
}

// lineState is what undo brings back.
type lineState struct {
	pieces []piece
	cursor int
}

// commandLine is the editor behind Ctrl-A. It knows of every cluster whether
// it was typed or pasted, because only typed text counts as a person's intent.
type commandLine struct {
	pieces []piece
	cursor int // in pieces

	undo    []lineState
	typing  bool // the last change was typing: one undo step for a word
	history []lineState
	recall  int // position in history while browsing, len(history) otherwise
	draft   lineState
}

// text is the whole line.
func (c *commandLine) text() string {
	var b strings.Builder
	for _, p := range c.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

func (c *commandLine) empty() bool { return len(c.pieces) == 0 }

// pasted is text as pieces that nobody typed here.
func pasted(text string) []piece {
	var c commandLine
	c.paste(text)
	return c.pieces
}

// spansOf tells which bytes of the text were typed and which pasted.
func spansOf(pieces []piece) []broker.Span {
	var out []broker.Span
	at := 0
	for _, p := range pieces {
		end := at + len(p.text)
		if n := len(out); n > 0 && out[n-1].Pasted == p.pasted {
			out[n-1].End = end
		} else {
			out = append(out, broker.Span{Start: at, End: end, Pasted: p.pasted})
		}
		at = end
	}
	return out
}

// insert puts text at the cursor. It reports false, and changes nothing, when
// the line would become too long.
func (c *commandLine) insert(text string, pasted bool) bool {
	if len(c.text())+len(text) > maxLine {
		return false
	}
	if !c.typing || pasted || text == " " {
		c.save()
	}
	c.typing = !pasted
	var add []piece
	for _, cluster := range clusters(text) {
		add = append(add, piece{cluster, pasted})
	}
	rest := append([]piece(nil), c.pieces[c.cursor:]...)
	c.pieces = append(append(c.pieces[:c.cursor:c.cursor], add...), rest...)
	c.cursor += len(add)
	return true
}

// paste inserts pasted text with its line ends normalized.
func (c *commandLine) paste(text string) bool {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return c.insert(text, true)
}

// clusters splits text into grapheme clusters.
func clusters(text string) []string {
	var out []string
	state := -1
	for len(text) > 0 {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		out = append(out, cluster)
	}
	return out
}

// Bounds of what can be brought back: steps of undo, lines of the history, and pieces
// in all of the ones or the others together. A line of 256 kB has as many pieces.
const (
	maxUndo       = 100
	maxHistory    = 500
	maxKeptPieces = 1 << 20
)

// save makes the present line an undo step.
func (c *commandLine) save() {
	c.undo = newest(append(c.undo, lineState{append([]piece(nil), c.pieces...), c.cursor}), maxUndo)
	c.typing = false
}

// newest keeps at most so many states, and no more than may be kept at all.
func newest(states []lineState, most int) []lineState {
	first, pieces := len(states), 0
	for first > 0 && len(states)-first < most {
		if pieces += len(states[first-1].pieces); pieces > maxKeptPieces {
			break
		}
		first--
	}
	return slices.Delete(states, 0, first)
}

func (c *commandLine) undoLast() {
	if n := len(c.undo); n > 0 {
		c.restore(c.undo[n-1])
		c.undo = c.undo[:n-1]
		c.typing = false
	}
}

func (c *commandLine) restore(s lineState) {
	c.pieces = append([]piece(nil), s.pieces...)
	c.cursor = min(s.cursor, len(c.pieces))
}

// remove deletes the pieces from a to b (exclusive).
func (c *commandLine) remove(a, b int) {
	if a >= b {
		return
	}
	c.save()
	c.pieces = append(c.pieces[:a:a], c.pieces[b:]...)
	c.cursor = a
}

func (c *commandLine) backspace() {
	if c.cursor > 0 {
		c.remove(c.cursor-1, c.cursor)
	}
}

func (c *commandLine) deleteForward() {
	if c.cursor < len(c.pieces) {
		c.remove(c.cursor, c.cursor+1)
	}
}

// move places the cursor, within the line.
func (c *commandLine) move(to int) {
	c.cursor = min(max(0, to), len(c.pieces))
	c.typing = false
}

// wordLeft is the position of the start of the word before the cursor.
func (c *commandLine) wordLeft() int {
	i := c.cursor
	for i > 0 && !wordPiece(c.pieces[i-1]) {
		i--
	}
	for i > 0 && wordPiece(c.pieces[i-1]) {
		i--
	}
	return i
}

// wordRight is the position behind the word after the cursor.
func (c *commandLine) wordRight() int {
	i := c.cursor
	for i < len(c.pieces) && !wordPiece(c.pieces[i]) {
		i++
	}
	for i < len(c.pieces) && wordPiece(c.pieces[i]) {
		i++
	}
	return i
}

func wordPiece(p piece) bool {
	for _, r := range p.text {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
	}
	return false
}

// take empties the line and remembers what it held in the history.
func (c *commandLine) take() {
	c.remember(c.pieces)
	c.clear()
}

// remember puts a line into the history, unless it is the newest there already.
func (c *commandLine) remember(pieces []piece) {
	n := len(c.history)
	if len(pieces) > 0 && (n == 0 || textOf(c.history[n-1].pieces) != textOf(pieces)) {
		c.history = newest(append(c.history, lineState{pieces, len(pieces)}), maxHistory)
	}
}

// clear empties the line, history and all that is kept.
func (c *commandLine) clear() {
	c.pieces, c.cursor, c.undo, c.typing = nil, 0, nil, false
	c.recall = len(c.history)
}

// putBack restores a line that could not be carried out, and says where it is: in the
// history when another one has been begun meanwhile.
func (c *commandLine) putBack(pieces []piece) (where string) {
	if c.empty() {
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
func (c *commandLine) older() bool {
	if c.recall == 0 || len(c.history) == 0 {
		return false
	}
	if c.recall >= len(c.history) {
		c.draft = lineState{append([]piece(nil), c.pieces...), c.cursor}
		c.recall = len(c.history)
	}
	c.recall--
	c.restore(c.history[c.recall])
	return true
}

func (c *commandLine) newer() bool {
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

func textOf(pieces []piece) string {
	c := commandLine{pieces: pieces}
	return c.text()
}

// edit carries out an editing key.
func (c *commandLine) edit(a action) {
	switch a {
	case actLeft:
		c.move(c.cursor - 1)
	case actRight:
		c.move(c.cursor + 1)
	case actHome:
		c.move(0)
	case actEnd:
		c.move(len(c.pieces))
	case actWordLeft:
		c.move(c.wordLeft())
	case actWordRight:
		c.move(c.wordRight())
	case actBackspace:
		c.backspace()
	case actDelete:
		c.deleteForward()
	case actKillWord:
		c.remove(c.wordLeft(), c.cursor)
	case actKillStart:
		c.remove(0, c.cursor)
	case actKillEnd:
		c.remove(c.cursor, len(c.pieces))
	case actUndo:
		c.undoLast()
	case actOlder:
		c.older()
	case actNewer:
		c.newer()
	case actNewline:
		c.insert("\n", false)
	}
}
