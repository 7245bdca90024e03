package term

// textPool numbers strings: the grapheme clusters of the cells, or the targets of
// hyperlinks. Number 0 is the empty string. Unused strings are swept like styles, and
// the bytes of all strings are bounded.
type textPool struct {
	texts   []string
	numbers map[string]uint32
	free    []uint32
	bytes   int
	refused int // strings refused since the last sweep
	limit   int // sweep when this many numbers are in use
	grown   int // or when the strings have this many bytes
	minimum int // lowest limit after a sweep
	ceiling int // most numbers that there can be
	maxSize int // bytes of all strings together
}

func newTextPool(minimum, ceiling, maxSize int) *textPool {
	return &textPool{
		texts:   []string{""},
		numbers: map[string]uint32{"": 0},
		limit:   minimum, minimum: minimum, ceiling: ceiling,
		grown: maxSize / 2, maxSize: maxSize,
	}
}

// number returns the string's number. It adds a string that the pool does not have; ok
// is false when the pool is at its bounds.
func (p *textPool) number(s []byte) (n uint32, ok bool) {
	if n, ok = p.numbers[string(s)]; ok {
		return n, true
	}
	if p.bytes+len(s) > p.maxSize {
		p.refused++
		return 0, false
	}
	text := string(s)
	if k := len(p.free); k > 0 {
		n = p.free[k-1]
		p.free = p.free[:k-1]
		p.texts[n] = text
	} else {
		if len(p.texts) >= p.ceiling {
			p.refused++
			return 0, false
		}
		n = uint32(len(p.texts))
		p.texts = append(p.texts, text)
	}
	p.numbers[text] = n
	p.bytes += len(text)
	return n, true
}

// text returns the string of a number.
func (p *textPool) text(n uint32) string { return p.texts[n] }

// maxRefused is how many strings a pool at its bounds refuses before another sweep is
// worth its cost.
const maxRefused = 4096

// full reports that a sweep is needed.
func (p *textPool) full() bool {
	return len(p.texts)-len(p.free) >= p.limit || p.bytes > p.grown || p.refused > maxRefused
}

// sweep frees every number that live does not mark.
func (p *textPool) sweep(live []bool) {
	p.free = p.free[:0]
	for n := len(p.texts) - 1; n > 0; n-- {
		if live[n] {
			continue
		}
		if s := p.texts[n]; s != "" {
			delete(p.numbers, s)
			p.bytes -= len(s)
			p.texts[n] = ""
		}
		p.free = append(p.free, uint32(n))
	}
	p.limit = max(p.minimum, 2*(len(p.texts)-len(p.free)))
	p.grown = max(p.maxSize/2, 2*p.bytes)
	p.refused = 0
}

// sweep frees the numbers of styles, clusters and links that the screens, the pen and
// the saved cursors no longer use. Packed lines contain no numbers.
func (e *emulator) sweep() {
	styles := make([]bool, len(e.styles.entries))
	clusters := make([]bool, len(e.clusters.texts))
	for _, alternate := range []bool{false, true} {
		if alternate && !e.alt && !e.altKept {
			continue // it will be erased before it is shown
		}
		e.grid.show(alternate)
		for y := range e.rows {
			for _, g := range e.grid.row(y, e.run) {
				styles[g.style] = true
				if g.text&clusterRef != 0 {
					clusters[g.text&textMask] = true
				}
			}
		}
	}
	e.grid.show(e.alt)
	e.clusters.sweep(clusters)
	e.styles.sweep(styles)
	e.penKnown = false

	links := make([]bool, len(e.links.texts))
	links[e.pen.link] = true
	for i := range e.saved {
		links[e.saved[i].pen.link] = true
	}
	for i := range e.styles.entries {
		links[e.styles.entries[i].link] = true
	}
	e.links.sweep(links)
}
