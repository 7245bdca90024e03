package term

import (
	"bytes"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Bounds of clusters. A grid can distinguish maxClusters clusters, because the vt10x
// grid represents them by private-use code points of planes 15 and 16. For the same
// reason, real characters of these planes are stored as clusters.
const (
	maxClusterBytes = 128
	maxClusters     = 0x1f000
	firstReserved   = 0xf0000
)

// reserved returns the glyph text of a character of planes 15 and 16.
func (e *emulator) reserved(r rune) uint32 {
	n, ok := e.clusters.number([]byte(string(r)))
	if !ok {
		return utf8.RuneError
	}
	return n | clusterRef
}

// join adds r to the character just printed if r belongs to that character. Marks of
// width 0 always do; in mode 2027 the rules for grapheme clusters decide. join returns
// false if r must be printed as a character of its own.
func (e *emulator) join(r rune, width int) bool {
	x := e.after() - e.lastWidth
	if x < 0 {
		return false
	}
	g := e.grid.at(x, e.y)
	text, cols := e.text(g)
	if text == "" {
		return false
	}
	cluster := utf8.AppendRune(append(make([]byte, 0, maxClusterBytes), text...), r)
	if e.modes.has(graphemeClusters) {
		first, _, w, _ := uniseg.FirstGraphemeCluster(cluster, -1)
		if len(first) != len(cluster) {
			return width == 0 // a mark that does not join is dropped
		}
		cols = max(1, min(w, 2))
		if isKeycap(cluster) {
			cols = 2
		}
	}
	if len(cluster) > maxClusterBytes {
		return true
	}
	if n, ok := e.clusters.number(cluster); ok {
		e.putCluster(x, glyph{n | clusterRef, g.style}, cols)
	}
	if e.clusters.full() {
		e.sweep()
	}
	return true
}

// joinLeft adds a mark to the character left of the cursor when a sequence came in
// between, such as a change of colors.
func (e *emulator) joinLeft(r rune) {
	x := e.after() - 1
	if x < 0 {
		return
	}
	if e.grid.at(x, e.y).text&wideTail != 0 {
		x--
	}
	e.lastWidth = e.after() - x
	if !e.join(r, 0) {
		e.lastWidth = 0
	}
}

// isKeycap reports whether the cluster is a digit, # or * drawn as an emoji.
func isKeycap(cluster []byte) bool {
	const emojiPresentation = "\ufe0f"
	b := cluster[0]
	return (b >= '0' && b <= '9' || b == '#' || b == '*') &&
		bytes.HasPrefix(cluster[1:], []byte(emojiPresentation))
}

// putCluster replaces the character that starts at x and ends at the cursor by g. cols is
// the width of g.
func (e *emulator) putCluster(x int, g glyph, cols int) {
	edge := e.cols
	if x < e.right {
		edge = e.right
	}
	if x+cols > edge { // it became wider at the right edge
		if !e.modes.has(autoWrap) || e.cols < 2 {
			cols = 1
		} else {
			e.setBlank(e.y, x, edge, g.style)
			e.wrap()
			x, edge = e.x, e.edge()
		}
	}
	blank := glyph{style: g.style}
	state := &e.rowStates()[e.y]
	e.splitWide(e.y, x, x+cols, blank)
	e.run = append(e.run[:0], g)
	if cols == 2 {
		state.wide = true
		e.run[0].text |= wideLead
		e.run = append(e.run, glyph{wideTail, g.style})
	}
	e.grid.put(x, e.y, e.run)
	e.damage.row(e.y)
	e.x = x
	e.advance(cols, edge)
	e.lastWidth = cols
}
