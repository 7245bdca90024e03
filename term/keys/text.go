package keys

import "unicode"

const printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ" +
	"[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// asciiText is string(r) without an allocation for ASCII.
func asciiText(r rune) string {
	if r >= ' ' && r <= '~' {
		return printable[r-' ' : r-' '+1]
	}
	return string(r)
}

// capital returns the small letter of the capital letter r. ok is false if r is not a
// capital letter, or if the small letter has another capital.
func capital(r rune) (lower rune, ok bool) {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A', true
	}
	if r < 0x80 || !unicode.IsUpper(r) {
		return r, false
	}
	lower = unicode.ToLower(r)
	return lower, lower != r && unicode.ToUpper(lower) == r
}

// typed derives the text of a key when the terminal did not send it. It is empty when
// the key with its modifiers types nothing.
func typed(k Key) string {
	if k.Mods&^(Shift|locks) != 0 || k.functional() || !validText(k.Code) {
		return ""
	}
	switch upper := k.Mods&Shift != 0; {
	case upper && k.Shifted != 0:
		return asciiText(k.Shifted)
	case upper != (k.Mods&CapsLock != 0 && unicode.IsLetter(k.Code)):
		return asciiText(unicode.ToUpper(k.Code))
	}
	return asciiText(k.Code)
}

// validText reports whether r may be part of a key's text.
func validText(r rune) bool {
	return r >= 0x20 && r != 0x7f && (r < 0x80 || r >= 0xa0) && r <= unicode.MaxRune && (r < 0xd800 || r > 0xdfff)
}
