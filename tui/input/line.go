package input

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// maxLine bounds the command line, in bytes.
const maxLine = 256 << 10

// Piece is one grapheme cluster of the command line, and whether it was pasted.
type Piece struct {
	Text   string
	pasted bool // or inserted by a completion
}

// lineState is a line that undo or the history restores.
type lineState struct {
	pieces []Piece
	cursor int
}

// Line is the editor of the command line. It remembers for every cluster whether it was
// typed or pasted, because only typed text counts as a person's intent.
type Line struct {
	Pieces []Piece
	Cursor int // in pieces

	undo    []lineState
	typing  bool // the last change was typing, so the word gets one undo step
	history []lineState
	recall  int // position in history while browsing, len(history) otherwise
	draft   lineState
	search  lineSearch
}

// Text returns the whole line.
func (c *Line) Text() string {
	var b strings.Builder
	for _, p := range c.Pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Empty reports whether the line is empty.
func (c *Line) Empty() bool { return len(c.Pieces) == 0 }

// IsCommand reports whether the line is a command, not text for the agent.
func (c *Line) IsCommand() bool {
	text := TextOf(c.Pieces[:min(2, len(c.Pieces))])
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
}

// Pasted returns text as pieces that count as pasted.
func Pasted(text string) []Piece {
	var c Line
	c.Paste(text)
	return c.Pieces
}

// SpansOf returns which bytes of the text were typed and which were pasted.
func SpansOf(pieces []Piece) []broker.Span {
	var out []broker.Span
	at := 0
	for _, p := range pieces {
		end := at + len(p.Text)
		if n := len(out); n > 0 && out[n-1].Pasted == p.pasted {
			out[n-1].End = end
		} else {
			out = append(out, broker.Span{Start: at, End: end, Pasted: p.pasted})
		}
		at = end
	}
	return out
}

// PiecesOf returns the pieces of a text whose spans are known. It reports false if SpansOf
// cannot have returned the spans for this text.
func PiecesOf(text string, spans []broker.Span) (pieces []Piece, ok bool) {
	at := 0
	for _, s := range spans {
		if s.Start != at || s.End <= at || s.End > len(text) {
			return nil, false
		}
		for _, cluster := range Clusters(text[s.Start:s.End]) {
			pieces = append(pieces, Piece{cluster, s.Pasted})
		}
		at = s.End
	}
	return pieces, at == len(text)
}

// Insert puts text at the cursor. It reports false, and changes nothing, when
// the line would become too long.
func (c *Line) Insert(text string, pasted bool) bool {
	if c.search.on {
		c.takeFound()
	}
	if size(c.Pieces)+len(text) > maxLine {
		return false
	}
	if !c.typing || pasted || text == " " {
		c.save()
	}
	c.typing = !pasted
	c.put(text, pasted)
	return true
}

// put puts text at the cursor.
func (c *Line) put(text string, pasted bool) {
	var add []Piece
	for _, cluster := range Clusters(text) {
		add = append(add, Piece{cluster, pasted})
	}
	rest := append([]Piece(nil), c.Pieces[c.Cursor:]...)
	if len(rest) > 0 {
		c.Pieces = slices.Clip(c.Pieces[:c.Cursor]) // the history may have the same pieces
	}
	c.Pieces = append(append(c.Pieces, add...), rest...)
	c.Cursor += len(add)
}

// size returns the length of a text in bytes.
func size(pieces []Piece) (n int) {
	for _, p := range pieces {
		n += len(p.Text)
	}
	return n
}

// Printable reports whether a key's text can be put into a line: it is not empty and has no control
// characters.
func Printable(text string) bool {
	return text != "" && strings.IndexFunc(text, unicode.IsControl) < 0
}

// lineEnds replaces the line ends of pasted text by the command line's.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Paste inserts pasted text with its line ends normalized.
func (c *Line) Paste(text string) bool { return c.Insert(lineEnds.Replace(text), true) }

// PasteOn inserts the next piece of a paste. It adds no step of undo, so that one step removes the
// whole paste.
func (c *Line) PasteOn(text string) bool {
	if text = lineEnds.Replace(text); size(c.Pieces)+len(text) > maxLine {
		return false
	}
	c.put(text, true)
	return true
}

// Complete inserts what a completion found. It counts as pasted, because an agent can have made
// the directory that has this name.
func (c *Line) Complete(text string) bool { return c.Insert(text, true) }

// Clusters splits text into grapheme clusters.
func Clusters(text string) []string {
	var out []string
	state := -1
	for len(text) > 0 {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		out = append(out, cluster)
	}
	return out
}

// save makes the present line an undo step.
func (c *Line) save() {
	c.undo = newest(append(c.undo, lineState{append([]Piece(nil), c.Pieces...), c.Cursor}), maxUndo)
	c.typing = false
}

// newest returns the newest states: at most most of them, and at most maxKeptPieces
// pieces in all.
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

func (c *Line) undoLast() {
	if n := len(c.undo); n > 0 {
		c.restore(c.undo[n-1])
		c.undo = c.undo[:n-1]
		c.typing = false
	}
}

func (c *Line) restore(s lineState) {
	c.Pieces = append([]Piece(nil), s.pieces...)
	c.Cursor = min(s.cursor, len(c.Pieces))
}

// remove deletes the pieces from a to b (exclusive).
func (c *Line) remove(a, b int) {
	if a >= b {
		return
	}
	c.save()
	c.Pieces = append(c.Pieces[:a:a], c.Pieces[b:]...)
	c.Cursor = a
}

func (c *Line) backspace() {
	if c.Cursor > 0 {
		c.remove(c.Cursor-1, c.Cursor)
	}
}

func (c *Line) deleteForward() {
	if c.Cursor < len(c.Pieces) {
		c.remove(c.Cursor, c.Cursor+1)
	}
}

// move puts the cursor at a position, or at the nearest end of the line.
func (c *Line) move(to int) {
	c.Cursor = min(max(0, to), len(c.Pieces))
	c.typing = false
}

// wordLeft returns the position where the word before the cursor starts.
func (c *Line) wordLeft() int {
	i := c.Cursor
	for i > 0 && !wordPiece(c.Pieces[i-1]) {
		i--
	}
	for i > 0 && wordPiece(c.Pieces[i-1]) {
		i--
	}
	return i
}

// wordRight returns the position where the word after the cursor ends.
func (c *Line) wordRight() int {
	i := c.Cursor
	for i < len(c.Pieces) && !wordPiece(c.Pieces[i]) {
		i++
	}
	for i < len(c.Pieces) && wordPiece(c.Pieces[i]) {
		i++
	}
	return i
}

func wordPiece(p Piece) bool {
	for _, r := range p.Text {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
	}
	return false
}

// TextOf returns the text of pieces.
func TextOf(pieces []Piece) string {
	c := Line{Pieces: pieces}
	return c.Text()
}

// Edit carries out an editing key.
func (c *Line) Edit(a Action) {
	switch a {
	case actLeft:
		c.move(c.Cursor - 1)
	case actRight:
		c.move(c.Cursor + 1)
	case actHome:
		c.move(0)
	case actEnd:
		c.move(len(c.Pieces))
	case actWordLeft:
		c.move(c.wordLeft())
	case actWordRight:
		c.move(c.wordRight())
	case ActBackspace:
		c.backspace()
	case actDelete:
		c.deleteForward()
	case actKillWord:
		c.remove(c.wordLeft(), c.Cursor)
	case actKillStart:
		c.remove(0, c.Cursor)
	case actKillEnd:
		c.remove(c.Cursor, len(c.Pieces))
	case actClear:
		c.remove(0, len(c.Pieces))
	case actUndo:
		c.undoLast()
	case actOlder:
		c.older()
	case actNewer:
		c.newer()
	case actNewline:
		c.Insert("\n", false)
	}
}
