package jsonx

import (
	"bytes"
	"math/bits"
)

// Texts can be long, and most of their bytes need no escaping, so they are looked at
// eight at a time. A mark is the high bit of a byte.
const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// word returns eight bytes of a text from i on, the first as the lowest byte.
func word[T ~string | ~[]byte](s T, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// below marks the bytes that are less than c, which is at most 0x80. The lowest mark
// is always right; bytes above it may be marked wrongly.
func below(w uint64, c uint64) uint64 { return (w - c*ones) &^ w & high }

// is marks the bytes that are c. As with below, only the lowest mark is certain.
func is(w uint64, c uint64) uint64 { return below(w^c*ones, 1) }

// plainUntil returns the offset of the first byte of a text that needs an escape in a JSON
// string, or the text's length.
func plainUntil(s string, i int) int {
	for i+8 <= len(s) {
		w := word(s, i)
		if (w&high)|below(w, 0x20)|is(w, '"')|is(w, '\\')|is(w, 0x7f) != 0 {
			break
		}
		i += 8
	}
	return i
}

// special returns the offset of the first byte from i on that has a special meaning in a
// string: a quote, a backslash, a byte below space. It returns the length if there is none.
func special(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := word(data, i)
		if marks := below(w, 0x20) | is(w, '"') | is(w, '\\'); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(data) && data[i] >= 0x20 && data[i] != '"' && data[i] != '\\' {
		i++
	}
	return i
}

// HasControl reports whether a text has a byte below space.
func HasControl(s []byte) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if below(word(s, i), 0x20) != 0 {
			return true // the lowest mark is certain
		}
	}
	for ; i < len(s); i++ {
		if s[i] < 0x20 {
			return true
		}
	}
	return false
}

// StringEnd returns the offset of the quote that ends the string whose opening
// quote is at open, or -1. It looks for nothing else.
func StringEnd(data []byte, open int) int {
	for at := open + 1; ; {
		q := bytes.IndexByte(data[at:], '"')
		if q < 0 {
			return -1
		}
		end := at + q
		escapes := end
		for escapes > at && data[escapes-1] == '\\' {
			escapes--
		}
		if (end-escapes)%2 == 0 {
			return end
		}
		at = end + 1
	}
}
