package term

// Bounds and block size of the scrollback.
const (
	defaultScrollback = 10_000
	maxScrollback     = 1_000_000
	blockSize         = 32 << 10 // bytes of packed lines allocated at a time
	bytesPerLine      = 1600     // a scrollback of n lines holds at most n times this
)

// history is the scrollback of the main screen: packed lines in blocks of bytes, oldest
// first. Lines and bytes are bounded; the oldest lines are dropped first.
type history struct {
	max     int // lines
	lines   []packedLine
	head    int // index in lines of the oldest
	count   int
	kept    int    // number of oldest lines that are another program's, which this one cannot erase
	dropped uint64 // lines dropped so far to keep the bounds
	blocks  []historyBlock
	first   uint32 // number of blocks[0]
	spare   []byte // an empty block, to be used again
	bytes   int    // allocated in blocks
	pack    packer
}

// packedLine is the place of a line in the blocks.
type packedLine struct {
	block      uint32 // number of the block, counted from the first ever
	start, end uint32
}

type historyBlock struct {
	data  []byte
	lines int // in it that are not dropped
}

func newHistory(lines int) *history {
	h := &history{max: min(lines, maxScrollback)}
	h.pack.widths = newWidths()
	return h
}

func (h *history) enabled() bool { return h.max > 0 }

// own returns how many lines are from the current program.
func (h *history) own() int { return h.count - h.kept }

// clear drops every line of the current program, and releases the memory.
func (h *history) clear() {
	if h.kept > 0 {
		h.dropNewest(h.own())
		return
	}
	h.lines, h.head, h.count = nil, 0, 0
	h.blocks, h.spare, h.bytes = nil, nil, 0
	h.first = 0
}

// add packs a row of the grid as the newest line.
func (h *history) add(e *emulator, row []glyph, state rowState) {
	h.addPacked(h.pack.glyphs(e, row, state))
}

// addPacked copies a packed line as the newest one.
func (h *history) addPacked(line []byte) {
	if h.count == h.max {
		h.dropOldest()
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
	h.push(packedLine{h.first + uint32(last), uint32(start), uint32(len(b.data))})
	for h.bytes > h.max*bytesPerLine+blockSize && h.count > 1 {
		h.dropOldest()
	}
}

// push adds a line's place to the ring of lines, which grows up to max.
func (h *history) push(l packedLine) {
	if h.count == len(h.lines) {
		grown := make([]packedLine, min(h.max, max(256, 2*len(h.lines))))
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
	h.bytes += cap(data)
}

// dropOldest drops the oldest line, and its block when no line is left in it.
func (h *history) dropOldest() {
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
	h.bytes -= cap(data)
	if cap(data) == blockSize {
		h.spare = data[:0]
	}
	h.blocks[0] = historyBlock{}
	h.blocks = h.blocks[1:]
	h.first++
}

// line returns packed line i, where 0 is the oldest. It is valid until the next change.
func (h *history) line(i int) []byte {
	i += h.head
	if i >= len(h.lines) {
		i -= len(h.lines)
	}
	l := h.lines[i]
	return h.blocks[l.block-h.first].data[l.start:l.end]
}

// dropNewest drops the n newest lines.
func (h *history) dropNewest(n int) {
	for ; n > 0 && h.count > 0; n-- {
		h.count--
		last := &h.blocks[len(h.blocks)-1]
		last.lines--
		if last.lines == 0 {
			h.bytes -= cap(last.data)
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
