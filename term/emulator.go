package term

// emulator is the terminal itself: it reads a program's bytes and changes the
// cells of its grid. It is not safe for concurrent use; Screen guards it.
//
// Its invariants: 0 ≤ x ≤ cols, where x == cols means that a wrap is pending: the last
// column before an edge was written, due is that column, and the next character wraps;
// 0 ≤ top ≤ bottom < rows; 0 ≤ left < right ≤ cols; 0 ≤ y < rows; the first half of a
// wide character is always followed by its second half on the same row.
type emulator struct {
	grid        grid
	cols, rows  int
	x, y        int
	top, bottom int  // the scroll region, both inclusive
	left, right int  // its columns, right exclusive (DECSLRM)
	narrow      bool // the region has fewer columns than the screen
	due         int  // the cursor's column while a wrap is pending (x == cols)

	meta    [2][]rowState // of the main and the alternate screen
	alt     bool          // the alternate screen is shown
	altKept bool          // the alternate screen is not shown and keeps its cells
	saved   [2]savedCursor
	history *history
	tabs    []bool

	pen      attrs
	penID    uint32 // number of pen, when penKnown
	eraseID  uint32 // number of the style that erasing leaves
	penKnown bool
	sparing  bool // erasing is selective: it spares protected characters
	guarded  bool // SPA set the protection: ED, EL and ECH also spare such characters, DECSERA does not
	extent   int  // DECSACE
	styles   *styleTable
	clusters *textPool
	links    *textPool
	widths   widths

	charsets    [4]byte // designated to G0–G3: 'B' ASCII, '0' line drawing, 'A' British
	shift       uint8   // index of the charset in use
	singleShift uint8   // index of the charset for the next character only; 0 for none

	modes     modeSet
	insert    bool // IRM
	newline   bool // LNM
	keypad    bool // DECKPAM
	level     int  // conformance level that the program chose (DECSCL), 1 to 4
	shape     CursorShape
	mouse     mouseState
	kitty     [2]kittyStack
	otherKeys uint8

	title         string
	iconTitle     string
	titleHexSet   bool // programs set titles in hexadecimal (XTSMTITLE)
	titleHexAsked bool // reports of titles are in hexadecimal
	titleStack    []string
	foreground    Color // of the person's terminal
	background    Color
	own           *ownColors   // nil while the program has set no colors
	savedModes    map[int]bool // what XTSAVE saved, by number; known modes only

	lastWidth int // columns of the character just printed; 0 after anything else
	parser
	run    []glyph // scratch
	copied []glyph // scratch of copyCells
	work   int     // cells changed in bulk since write began

	replies []byte
	events  []Event
	damage  damage
	sync    syncHold
}

// savedCursor is what DECSC saves.
type savedCursor struct {
	x, y     int
	pen      attrs
	charsets [4]byte
	shift    uint8
	origin   bool
}

// asciiCharsets are the initial charsets of all slots.
var asciiCharsets = [4]byte{'B', 'B', 'B', 'B'}

func newEmulator(g grid, cols, rows int, h *history) *emulator {
	e := &emulator{
		grid: g, cols: cols, rows: rows, history: h,
		styles:     newStyleTable(),
		clusters:   newTextPool(1<<13, maxClusters, 8<<20),
		links:      newTextPool(1<<12, 1<<20, 4<<20),
		widths:     newWidths(),
		foreground: defaultForeground,
		background: defaultBackground,
	}
	e.damage.resize(rows)
	e.clearState()
	return e
}

// clearState resets everything except cells, scrollback and title.
func (e *emulator) clearState() {
	e.alt, e.altKept = false, false
	e.grid.show(false)
	e.x, e.y = 0, 0
	e.clearMargins()
	e.meta = [2][]rowState{make([]rowState, e.rows), make([]rowState, e.rows)}
	e.saved = [2]savedCursor{{charsets: asciiCharsets}, {charsets: asciiCharsets}}
	e.setPen(attrs{})
	e.charsets, e.shift, e.singleShift = asciiCharsets, 0, 0
	e.modes = initialModes
	e.insert, e.newline, e.keypad = false, false, false
	e.shape = CursorDefault
	e.mouse = mouseState{}
	e.kitty = [2]kittyStack{}
	e.otherKeys = 0
	e.titleStack = nil
	e.titleHexSet, e.titleHexAsked = false, false
	e.own = nil
	e.savedModes = nil
	e.level = maxLevel
	e.guarded, e.extent = false, 0
	e.tabs = nil
	e.extendTabs()
	e.lastWidth = 0
	e.sync.end()
}

// reset is RIS. It resets everything including the scrollback. Only the title stays, as
// in other terminals, because programs that reset do not set it again.
func (e *emulator) reset() {
	e.clearState()
	e.work += e.cols * e.rows
	for y := range e.rows {
		e.grid.fill(0, e.cols, y, glyph{})
	}
	e.history.clear()
	e.damage.all()
}

// screenIndex returns 1 on the alternate screen and 0 on the main screen.
func (e *emulator) screenIndex() int {
	if e.alt {
		return 1
	}
	return 0
}

// rowStates returns the row states of the screen that is shown.
func (e *emulator) rowStates() []rowState { return e.meta[e.screenIndex()] }

// setPen changes the style of what is printed next.
func (e *emulator) setPen(a attrs) {
	e.pen = a
	e.penKnown = false
}

// number resolves the pen and the erasing style to their table numbers.
func (e *emulator) number() {
	e.penID, e.eraseID = 0, 0
	if e.pen != (attrs{}) {
		e.penID = e.styles.number(&e.pen)
	}
	if e.pen.bg != 0 {
		e.eraseID = e.styles.number(&attrs{bg: e.pen.bg})
	}
	e.penKnown = true
}

// penStyle returns the number of the style to print in.
func (e *emulator) penStyle() uint32 {
	if !e.penKnown {
		e.number()
	}
	return e.penID
}

// blank returns the glyph that erasing leaves: no text, in the pen's background.
func (e *emulator) blank() glyph {
	if !e.penKnown {
		e.number()
	}
	return glyph{style: e.eraseID}
}

// text returns the text of a glyph and its width in columns. A blank has no text.
func (e *emulator) text(g glyph) (string, int) {
	switch {
	case g.text&wideTail != 0:
		return "", 0
	case g.text&textMask == 0 && g.text&clusterRef == 0:
		return "", 1
	}
	width := 1
	if g.text&wideLead != 0 {
		width = 2
	}
	if g.text&clusterRef != 0 {
		return e.clusters.text(g.text & textMask), width
	}
	return string(rune(g.text & textMask)), width
}
