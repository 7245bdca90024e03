package term

import "strings"

// lineDrawing is DEC's special graphics set, from ` to ~.
var lineDrawing = [...]rune{
	'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
	'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate returns the character that an ASCII character stands for in the charset in
// use.
func (e *emulator) translate(r rune) rune {
	set := e.charsets[e.shift]
	if e.singleShift != 0 {
		set = e.charsets[e.singleShift]
		e.singleShift = 0
	}
	switch {
	case set == '0' && r >= '`' && r <= '~':
		return lineDrawing[r-'`']
	case set == 'B' || set == '0':
		return r
	}
	if i := strings.IndexRune(nationalPlaces, r); i >= 0 {
		return nationalCharsets[set][i]
	}
	return r
}

// nationalPlaces are the ASCII characters that national charsets replace.
const nationalPlaces = "#@[\\]^_`{|}~"

// nationalCharsets are the national replacement sets, by the byte that designates them.
var nationalCharsets = map[byte][]rune{
	'A': []rune("£@[\\]^_`{|}~"), // British
	'4': []rune("£¾ĳ½|^_`¨ƒ¼´"),  // Dutch
	'C': []rune("#@ÄÖÅÜ_éäöåü"),  // Finnish
	'R': []rune("£à°ç§^_`éùè¨"),  // French
	'Q': []rune("#àâçêî_ôéùèû"),  // French Canadian
	'K': []rune("#§ÄÖÜ^_`äöüß"),  // German
	'Y': []rune("£§°çé^_ùàòèì"),  // Italian
	'E': []rune("#ÄÆØÅÜ_äæøåü"),  // Norwegian and Danish
	'Z': []rune("£§¡Ñ¿^_`°ñç~"),  // Spanish
	'H': []rune("#ÉÄÖÅÜ_éäöåü"),  // Swedish
	'=': []rune("ùàéçêîèôäöüû"),  // Swiss
}

// nationalAliases are other bytes that designate the same sets.
var nationalAliases = map[byte]byte{'5': 'C', 'f': 'R', '9': 'Q', '6': 'E', '`': 'E', '7': 'H'}

// designate executes an escape sequence with an intermediate byte: one that chooses a
// charset, or DECALN.
func (e *emulator) designate(inter, final byte) {
	switch inter {
	case '(', ')', '*', '+':
		e.chooseCharset(int(inter-'('), final)
	case '-', '.', '/': // sets of 96 characters, none of which changes ASCII
		e.charsets[inter-'-'+1] = 'B'
	case '#':
		if final == '8' {
			e.alignmentTest()
		}
	}
}

// chooseCharset designates a set of 94 characters. National sets other than the British
// need mode 42. An unknown final byte changes nothing.
func (e *emulator) chooseCharset(slot int, final byte) {
	if alias, ok := nationalAliases[final]; ok {
		final = alias
	}
	_, national := nationalCharsets[final]
	if final == '0' || final == 'A' || final == 'B' || national && e.modes.has(nationalSets) {
		e.charsets[slot] = final
	}
}
