package term

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// checkPacked reports whether packer could have made the line, so that unpack can read it.
func checkPacked(line []byte, w widths) bool {
	if len(line) < 2 || line[0] > packedContinues|packedPrompt|packedStyled {
		return false
	}
	a := &archive{loading: true, data: line[1:]}
	var columns int
	var runs []byte
	archiveInt(a, &columns, 0, maxCols)
	if line[0]&packedStyled != 0 {
		a.bytes(&runs, len(line))
	}
	return a.err == nil && checkRuns(runs, columns) && checkText(a.data, columns, w)
}

// checkText checks the text of a packed line, which must fit the columns.
func checkText(text []byte, columns int, w widths) bool {
	for len(text) > 0 && columns >= 0 {
		switch b := text[0]; {
		case b >= 0x20 && b < 0x7f:
			columns--
			text = text[1:]
		case b == packedBlank:
			n, size := binary.Uvarint(text[1:])
			if size <= 0 || n == 0 || n > uint64(columns) {
				return false
			}
			columns -= int(n)
			text = text[1+size:]
		case b == packedOther:
			if len(text) < 2 || text[1] != 1 && text[1] != 2 {
				return false
			}
			columns -= int(text[1])
			a := &archive{loading: true, data: text[2:]}
			var cluster []byte
			a.bytes(&cluster, maxClusterBytes)
			if len(cluster) == 0 || !printable(cluster) {
				return false
			}
			text = a.data
		default:
			r, size := utf8.DecodeRune(text)
			if size < 2 || unicode.IsControl(r) || w.of(r) == 0 {
				return false
			}
			columns -= w.of(r)
			text = text[size:]
		}
	}
	return columns >= 0
}

// checkRuns checks the styles of a packed line.
func checkRuns(runs []byte, columns int) bool {
	a := &archive{loading: true, data: runs}
	linked := false // a run before had a link
	for len(a.data) > 0 {
		var n int
		var kind uint8
		archiveInt(a, &n, 0, max(0, columns))
		a.check(n > 0)
		columns -= n
		loadByte(a, &kind, packedSameLink|packedLink|packedRest|0xf)
		skipColor(a, kind>>packedForeground&3)
		skipColor(a, kind>>packedBackground&3)
		if kind&packedRest != 0 {
			var attr, underline, color uint8
			loadByte(a, &attr, 0xff)
			loadByte(a, &underline, uint8(DashedUnderline))
			loadByte(a, &color, 2)
			skipColor(a, color)
		}
		switch kind & (packedLink | packedSameLink) {
		case packedLink:
			var link []byte
			a.bytes(&link, maxLink)
			a.check(len(link) > 0 && printable(link))
			linked = true
		case packedSameLink:
			a.check(linked)
		case packedLink | packedSameLink:
			a.fail()
		}
	}
	return a.err == nil
}

// loadByte loads one byte, which is at most high.
func loadByte(a *archive, v *uint8, high uint8) {
	if len(a.data) == 0 || a.data[0] > high {
		a.fail()
		return
	}
	*v = a.data[0]
	a.data = a.data[1:]
}

// skipColor skips a color of a packed style.
func skipColor(a *archive, kind uint8) {
	n := [4]int{0, 1, 3, 0}[kind]
	if kind == 3 || n > len(a.data) {
		a.fail()
		return
	}
	a.data = a.data[n:]
}
