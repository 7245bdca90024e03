package jsonx

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// ASCII returns the JSON text in plain ASCII, with the same meaning and without characters that
// could disturb a terminal. JSON has other characters only in strings, where ASCII escapes them.
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
