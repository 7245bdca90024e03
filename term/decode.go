package term

import "unicode/utf8"

// readRune prints the character at the start of p, whose first byte is not ASCII, and
// returns how many bytes it used. It drops bytes that are not UTF-8. If p ends within
// the character, readRune keeps its bytes for the next write.
func (e *emulator) readRune(p []byte) int {
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError && size <= 1 {
		if !utf8.FullRune(p) {
			e.partials = copy(e.partial[:], p)
			return len(p)
		}
		return 1
	}
	e.rune(r)
	return size
}

// readText prints the text at the start of p, whose first byte is not ASCII, and
// returns how many bytes it used. It prints in one piece the characters that simply go
// into the next columns. readRune handles everything else.
func (e *emulator) readText(p []byte) int {
	edge := e.edge()
	room := edge - e.x
	if room <= 0 || e.insert || e.singleShift != 0 || e.charsets[e.shift] != 'B' || e.modes.has(graphemeClusters) {
		return e.readRune(p)
	}
	style := e.penStyle()
	run := e.run[:0]
	size, width := 0, 0
	wide := false
	for size < len(p) && len(run) < room {
		b := p[size]
		if b < utf8.RuneSelf {
			if b < 0x20 || b == 0x7f {
				break
			}
			run = append(run, glyph{uint32(b), style})
			width = 1
			size++
			continue
		}
		r, n := decodeRune(p[size:])
		if r < 0xa0 || r >= firstReserved || r == 0xfeff {
			break
		}
		w := e.widths.of(r)
		if w == 0 || len(run)+w > room {
			break
		}
		if width = w; w == 2 {
			run = append(run, glyph{uint32(r) | wideLead, style}, glyph{wideTail, style})
			wide = true
		} else {
			run = append(run, glyph{uint32(r), style})
		}
		size += n
	}
	e.run = run
	if size == 0 {
		return e.readRune(p)
	}
	e.placeRun(run, wide, edge)
	e.lastWidth = width
	return size
}

// decodeRune returns the character at the start of p, which is not ASCII, and its
// length. It returns 0 if the character is invalid or incomplete.
func decodeRune(p []byte) (rune, int) {
	const first, next = 0xe1, 0x3f
	// Most characters on a screen that are not ASCII are between U+1000 and U+CFFF.
	// These have three bytes, no surrogates and no overlong forms.
	if len(p) >= 3 && p[0] >= first && p[0] <= 0xec && p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 {
		return rune(p[0]&0xf)<<12 | rune(p[1]&next)<<6 | rune(p[2]&next), 3
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n <= 1 {
		return 0, 0
	}
	return r, n
}

// finishPartial completes the character whose first bytes the last write brought, and
// returns the rest of p.
func (e *emulator) finishPartial(p []byte) []byte {
	for len(p) > 0 {
		e.partial[e.partials] = p[0]
		known := e.partial[:e.partials+1]
		if !utf8.FullRune(known) {
			e.partials++
			p = p[1:]
			continue
		}
		e.partials = 0
		if r, size := utf8.DecodeRune(known); r != utf8.RuneError || size > 1 {
			e.rune(r)
			return p[1:]
		}
		// The bytes so far are invalid. A new character may begin at any of them
		// except the first.
		rest := make([]byte, 0, len(known)-1+len(p)-1)
		rest = append(append(rest, known[1:]...), p[1:]...)
		return rest
	}
	return nil
}

// rune prints a decoded character or executes a C1 control character.
func (e *emulator) rune(r rune) {
	switch {
	case r < 0xa0:
		e.c1(byte(r))
	case r == 0xfeff: // a byte order mark is not printed
	default:
		e.printRune(r)
	}
}
