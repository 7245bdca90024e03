package jsonx

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ASCII returns JSON text of the same meaning in plain ASCII, without any character that
// could disturb a terminal. Other characters are only in strings, where ASCII escapes them.
// It returns text that is plain already unchanged.
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
