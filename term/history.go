package term

// Bounds and block size of the scrollback.
const (
	defaultScrollback = 10_000
	maxScrollback     = 1_000_000
	blockSize         = 32 << 10 // bytes of packed lines allocated at a time
	bytesPerLine      = 1600     // a scrollback of n lines holds at most n times this
	indexBytes        = 12       // of the index for one row
)

// history is the scrollback of the main screen: packed rows in blocks of bytes, oldest
// first. Its bounds count lines and bytes, where a line is a row with all rows that
// continue it, so that a narrow screen keeps as many lines as a wide one. The oldest
// lines are dropped first.
type history struct {
	max     int // lines
	starts  int // rows that do not continue another row, which is the number of lines
	surplus surplus
	lines   []packedLine
	head    int // index in lines of the oldest row
	count   int
	kept    int    // number of oldest rows that are an earlier program's, which this one cannot erase
	dropped uint64 // rows dropped so far to keep the bounds
	blocks  []historyBlock
	first   uint32 // number of blocks[0]
	spare   []byte // an empty block, to be used again
	bytes   int    // of the rows; the blocks are at most twice as large
	pack    packer
}

// surplus is how much a history may exceed its bounds, because a resize moved lines there
// from the screen or wrapped lines into more rows.
type surplus struct{ lines, bytes int }

// packedLine is the place of a row in the blocks.
type packedLine struct {
	block      uint32 // number of the block, counted from the first ever
	start, end uint32
}

type historyBlock struct {
	data  []byte
	lines int // rows in it that are not dropped
}

func newHistory(lines int) *history {
	h := &history{max: min(lines, maxScrollback)}
	h.pack.widths = newWidths()
	return h
}

func (h *history) enabled() bool { return h.max > 0 }

// size returns how many bytes the rows and their index take.
func (h *history) size() int { return h.bytes + h.count*indexBytes }

// maxBytes is the bound of size, without the surplus.
func (h *history) maxBytes() int { return h.max*bytesPerLine + blockSize }

// allowSurplus lets a resize add rows without dropping any, up to half of maxBytes more. It
// returns a function that ends this, and changes the surplus of the resized history by what
// the resize has added or removed.
func (h *history) allowSurplus() (settle func(resized *history)) {
	former, starts, size := h.surplus, h.starts, h.size()
	h.surplus = surplus{maxScrollback, h.maxBytes() / 2}
	return func(resized *history) {
		resized.surplus = surplus{
			lines: max(0, min(former.lines+resized.starts-starts, maxRows)),
			bytes: max(0, min(former.bytes+resized.size()-size, h.maxBytes()/2)),
		}
	}
}

// own returns the number of rows of the current program.
func (h *history) own() int { return h.count - h.kept }

// clear drops every line of the current program, and releases the memory.
func (h *history) clear() {
	if h.kept > 0 {
		h.dropNewest(h.own())
		return
	}
	h.lines, h.head, h.count, h.starts = nil, 0, 0, 0
	h.blocks, h.spare, h.bytes = nil, nil, 0
	h.surplus = surplus{}
	h.first = 0
}

// add packs a row of the grid as the newest line.
func (h *history) add(e *emulator, row []glyph, state rowState) {
	h.addPacked(h.pack.glyphs(e, row, state))
}

// addPacked copies a packed row as the newest one.
func (h *history) addPacked(line []byte) {
	if line[0]&packedContinues == 0 {
		for h.starts >= h.max+h.surplus.lines {
			h.dropLine()
		}
		h.starts++
	}
	last := len(h.blocks) - 1
	if last < 0 || cap(h.blocks[last].data)-len(h.blocks[last].data) < len(line) {
		h.addBlock(len(line))
		last = len(h.blocks) - 1
	}
	b := &h.blocks[last]
	start := len(b.data)
	b.data = append(b.data, line...)
	b.lines++
	h.bytes += len(line)
	h.push(packedLine{h.first + uint32(last), uint32(start), uint32(len(b.data))})
	for h.size() > h.maxBytes()+h.surplus.bytes && h.count > 1 {
		if h.starts > 1 {
			h.dropLine()
		} else {
			h.dropOldest() // the only line is too long
		}
	}
}

// dropLine drops the oldest line with all its rows.
func (h *history) dropLine() {
	for starts := h.starts; h.count > 0 && (h.starts == starts || h.line(0)[0]&packedContinues != 0); {
		h.dropOldest()
	}
}

// push adds a row's place to the ring of rows.
func (h *history) push(l packedLine) {
	if h.count == len(h.lines) {
		grown := make([]packedLine, max(256, len(h.lines)+len(h.lines)/2))
		n := copy(grown, h.lines[h.head:])
		copy(grown[n:], h.lines[:h.head])
		h.lines, h.head = grown, 0
	}
	i := h.head + h.count
	if i >= len(h.lines) {
		i -= len(h.lines)
	}
	h.lines[i] = l
	h.count++
}

// addBlock adds a block with room for a line of size bytes.
func (h *history) addBlock(size int) {
	data := h.spare
	h.spare = nil
	if cap(data) < size {
		data = make([]byte, 0, max(blockSize, size))
	}
	h.blocks = append(h.blocks, historyBlock{data: data[:0]})
}

// dropOldest drops the oldest row, and its block when no row is left in it.
func (h *history) dropOldest() {
	h.uncount(h.line(0))
	h.head++
	if h.head == len(h.lines) {
		h.head = 0
	}
	h.count--
	h.kept = max(0, h.kept-1)
	h.dropped++
	h.blocks[0].lines--
	if h.blocks[0].lines > 0 || len(h.blocks) == 1 && h.count > 0 {
		return
	}
	data := h.blocks[0].data
	if cap(data) == blockSize {
		h.spare = data[:0]
	}
	h.blocks[0] = historyBlock{}
	h.blocks = h.blocks[1:]
	h.first++
}

// uncount subtracts a row from bytes and starts.
func (h *history) uncount(line []byte) {
	h.bytes -= len(line)
	if line[0]&packedContinues == 0 {
		h.starts--
	}
}

// line returns packed row i, where 0 is the oldest. It is valid until the next change.
func (h *history) line(i int) []byte {
	i += h.head
	if i >= len(h.lines) {
		i -= len(h.lines)
	}
	l := h.lines[i]
	return h.blocks[l.block-h.first].data[l.start:l.end]
}

// dropNewest drops the n newest rows.
func (h *history) dropNewest(n int) {
	for ; n > 0 && h.count > 0; n-- {
		h.uncount(h.line(h.count - 1))
		h.count--
		last := &h.blocks[len(h.blocks)-1]
		last.lines--
		if last.lines == 0 {
			h.blocks[len(h.blocks)-1] = historyBlock{}
			h.blocks = h.blocks[:len(h.blocks)-1]
			continue
		}
		i := h.head + h.count - 1
		if i >= len(h.lines) {
			i -= len(h.lines)
		}
		last.data = last.data[:h.lines[i].end]
	}
}

// Inherit moves the scrollback of another screen and the lines of its main screen to
// the top of this screen's scrollback, followed by the divider line. This screen's
// program cannot erase the lines down to the divider, and they never move down to the
// screen. The other screen keeps its cells and loses its scrollback.
func (s *Screen) Inherit(from *Screen, divider []Cell) {
	cols, rows := s.Size()
	if s == from || cols == 0 {
		return
	}
	from.Resize(cols, rows) // so that its lines are as wide as this screen's
	h := from.takeHistory()
	if h == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return
	}
	own := s.emulator.history
	h.dropped = own.dropped
	h.addPacked(h.pack.cells(divider, rowState{}))
	h.kept = h.count
	for i := range own.count {
		h.addPacked(own.line(i))
	}
	s.emulator.history = h
	s.settle()
}

// takeHistory returns the scrollback with the rows of the main screen at its end,
// except the empty rows at the bottom, and gives the screen an empty scrollback. It returns
// nil when there are no lines or the scrollback is disabled.
func (s *Screen) takeHistory() *history {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil || !s.emulator.history.enabled() {
		return nil
	}
	e := s.emulator
	e.grid.show(false)
	lines := e.mainLines()
	e.grid.show(e.alt)
	for len(lines) > 0 && len(lines[len(lines)-1].cells) == 0 {
		lines = lines[:len(lines)-1]
	}
	for _, l := range lines {
		e.keepCells(l)
	}
	h := e.history
	if h.count == 0 {
		return nil
	}
	e.history = newHistory(h.max)
	e.history.dropped = h.dropped
	s.settle()
	return h
}
