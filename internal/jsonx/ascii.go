package jsonx

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ASCII is JSON text of the same meaning in plain ASCII, without any character that
// could disturb a terminal or a reader: what is not plain ASCII stands in strings
// only, where it can be escaped. Text that is plain already is returned as it is.
func ASCII(raw []byte) []byte {
	first := 0
	for first < len(raw) && plain(rune(raw[first])) {
		first++
	}
	if first == len(raw) {
		return raw
	}
	out := append(make([]byte, 0, len(raw)+64), raw[:first]...)
	for raw = raw[first:]; len(raw) > 0; {
		r, n := utf8.DecodeRune(raw)
		switch {
		case plain(r):
			out = append(out, raw[0])
		case r < ' ':
			out = append(out, ' ') // between two tokens; inside a string it is escaped already
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[n:]
	}
	return out
}

func plain(r rune) bool { return r == '\n' || r >= ' ' && r < 0x7f }
