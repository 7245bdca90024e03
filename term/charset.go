package term

// lineDrawing is DEC's special graphics set, from ` to ~.
var lineDrawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate is what an ASCII character means in the charset in use.
func (e *emulator) translate(r rune) rune {
	set := e.charsets[e.shift]
	if e.singleShift != 0 {
		set = e.charsets[e.singleShift]
		e.singleShift = 0
	}
	switch {
	case set == '0' && r >= '`' && r <= '~':
		return lineDrawing[r-'`']
	case set == 'A' && r == '#':
		return '£'
	}
	return r
}

// designate carries out an escape sequence with an intermediate byte: those
// that choose a charset, and DECALN.
func (e *emulator) designate(inter, final byte) {
	switch inter {
	case '(', ')', '*', '+':
		if final == '0' || final == 'A' || final == 'B' { // others leave the set as it is
			e.charsets[inter-'('] = final
		}
	case '-', '.', '/': // sets of 96 characters: none of them changes ASCII
		e.charsets[inter-'-'+1] = 'B'
	case '#':
		if final == '8' {
			e.alignmentTest()
		}
	}
}
