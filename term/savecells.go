package term

import (
	"slices"
	"unicode"
)

// archiveTexts saves or loads the tables of links, clusters and styles, whose numbers the
// cells contain. They have no unused entries, because Save sweeps them first.
func (e *emulator) archiveTexts(a *archive) {
	e.links.archive(a, maxLink)
	e.clusters.archive(a, maxClusterBytes)
	t := e.styles
	archiveList(a, &t.entries, 6, maxSavedStyles)
	a.check(len(t.entries) > 0)
	for i := range t.entries {
		e.archivePen(a, &t.entries[i])
	}
	if !a.loading || a.err != nil {
		return
	}
	a.check(t.entries[0] == attrs{})
	live := make([]bool, len(t.entries))
	for n := range live {
		live[n] = t.entries[n] != attrs{}
	}
	t.sweep(live)
}

// maxSavedStyles is less than the number of styles that the vt10x grid can represent.
const maxSavedStyles = 1 << 23

func (p *textPool) archive(a *archive, most int) {
	archiveList(a, &p.texts, 1, p.ceiling)
	a.check(len(p.texts) > 0)
	live := make([]bool, len(p.texts))
	for n := range p.texts {
		text := &p.texts[n]
		a.text(text, most)
		if !a.loading || a.err != nil || *text == "" {
			continue
		}
		_, twice := p.numbers[*text]
		a.check(n > 0 && !twice)
		p.numbers[*text] = uint32(n)
		p.bytes += len(*text)
		live[n] = true
	}
	a.check(p.bytes <= p.maxSize)
	if a.loading && a.err == nil {
		p.sweep(live)
	}
}

// archivePen saves or loads a style with the number of its link.
func (e *emulator) archivePen(a *archive, pen *attrs) {
	a.color(&pen.fg)
	a.color(&pen.bg)
	a.color(&pen.underlineColor)
	archiveInt(a, &pen.link, 0, uint32(len(e.links.texts)))
	archiveInt(a, &pen.attr, 0, protected|0xff)
	archiveInt(a, &pen.underline, 0, DashedUnderline)
	a.check(pen.attr&^(protected|0xff) == 0)
	a.check(pen.link == 0 || int(pen.link) < len(e.links.texts) && e.links.texts[pen.link] != "")
}

// archiveCells saves or loads the rows of the main screen, and of the alternate screen
// unless that is erased before it is shown again.
func (e *emulator) archiveCells(a *archive) {
	for i, alternate := range []bool{false, true} {
		if alternate && !e.alt && !e.altKept {
			continue
		}
		e.grid.show(alternate)
		for y := range e.rows {
			row := e.archiveRow(a, y)
			state := &e.meta[i][y]
			state.wide = state.wide || slices.ContainsFunc(row, func(g glyph) bool { return g.text&wideLead != 0 })
			a.flag(&state.continues)
			a.flag(&state.prompt)
		}
	}
	e.grid.show(e.alt)
}

// archiveRow saves or loads one row of the screen that the grid shows.
func (e *emulator) archiveRow(a *archive, y int) (row []glyph) {
	if !a.loading {
		row = e.grid.row(y, e.run)
	}
	archiveList(a, &row, 2, e.cols)
	for i := range row {
		// The flags are moved next to the code point, so that ASCII takes two bytes.
		text := row[i].text&textMask<<3 | row[i].text>>29
		archiveInt(a, &text, 0, textMask<<3|7)
		style := row[i].style
		archiveInt(a, &style, 0, uint32(len(e.styles.entries)-1))
		if a.loading {
			row[i] = glyph{text>>3 | text&7<<29, style}
		}
	}
	if !a.loading || a.err != nil {
		return row
	}
	a.check(e.validRow(row))
	if a.err == nil && len(row) > 0 {
		e.grid.put(0, y, row)
	}
	return row
}

// validRow reports whether the emulator can make all these glyphs, and every wide character
// has both halves.
func (e *emulator) validRow(row []glyph) bool {
	lead := false // the glyph before is the first half of a wide character
	for _, g := range row {
		if tail := g.text&wideTail != 0; tail != lead || tail && g.text != wideTail {
			return false
		}
		lead = g.text&wideLead != 0
		n := g.text & textMask
		switch {
		case g.text&clusterRef != 0:
			if int(n) >= len(e.clusters.texts) || e.clusters.texts[n] == "" {
				return false
			}
		case n == 0:
			if lead {
				return false
			}
		case n >= firstReserved || unicode.IsControl(rune(n)) || n >= 0xd800 && n < 0xe000:
			return false
		}
	}
	return !lead
}

// archiveHistory saves or loads the scrollback.
func (e *emulator) archiveHistory(a *archive) {
	h := e.history
	bounds, kept, count := h.surplus, h.kept, h.count
	archiveInt(a, &bounds.lines, 0, maxRows)
	archiveInt(a, &bounds.bytes, 0, h.maxBytes()/2)
	archiveInt(a, &h.dropped, 0, 1<<62)
	archiveInt(a, &count, 0, len(a.data)+count)
	archiveInt(a, &kept, 0, count)
	a.check(count == 0 || h.enabled())
	dropped := h.dropped
	h.surplus = surplus{maxScrollback, h.maxBytes()} // the last resize may have left more than bounds
	for i := 0; i < count && a.err == nil; i++ {
		var line []byte
		if !a.loading {
			line = h.line(i)
		}
		a.bytes(&line, maxPacked)
		if a.loading && a.err == nil {
			a.check(checkPacked(line, e.widths))
			if a.err == nil {
				h.addPacked(line)
			}
		}
	}
	a.check(h.dropped == dropped && h.count == count)
	h.kept, h.surplus = kept, bounds
}

// maxPacked is more bytes than any packed line has: each of its cells may have a style, a
// link and a cluster of its own.
const maxPacked = maxCols * (maxLink + maxClusterBytes + 64)
