package leak

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

const (
	// escapeLeads are the characters that escapes begin with.
	escapeLeads = `%\&`
	// longestHTML is the length of the longest HTML escape that is decoded.
	longestHTML = 6
	// mostBackslashes is the most backslashes of one escape of JSON. Each time that a
	// text is put into a string of JSON, their number doubles.
	mostBackslashes = 8
)

// seconds are the characters that can be the second one of an escape.
var seconds = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF/xu#\\") {
		is[c] = true
	}
	return is
}()

// unescape decodes an escape at the beginning of b: of a URL (%2d), of JSON (\u002d,
// \x2d, \/, and \\u002d in JSON inside JSON) or of HTML (&#45;, &#x2d;). It returns the
// character and the length of the escape. n is 0 if there is no complete escape; cut then
// says that b may end within one.
func unescape(b []byte) (c byte, n int, cut bool) {
	switch b[0] {
	case '%':
		return hexEscape(b, 1, 2)
	case '\\':
		return backslashEscape(b)
	case '&':
		return htmlEscape(b)
	}
	return 0, 0, false
}

// backslashEscape decodes an escape of JSON.
func backslashEscape(b []byte) (c byte, n int, cut bool) {
	n = 1
	for n < mostBackslashes && n < len(b) && b[n] == '\\' {
		n++
	}
	if n == len(b) {
		return 0, 0, true
	}
	switch b[n] {
	case '/':
		return '/', n + 1, false
	case 'x':
		return hexEscape(b, n+1, 2)
	case 'u':
		return hexEscape(b, n+1, 4)
	}
	return 0, 0, false
}

// htmlEscape decodes a character reference with a decimal or hexadecimal number.
func htmlEscape(b []byte) (c byte, n int, cut bool) {
	end := bytes.IndexByte(b[:min(len(b), longestHTML)], ';')
	if end < 0 {
		return 0, 0, len(b) < longestHTML && htmlBegins(string(b))
	}
	digits, ok := strings.CutPrefix(string(b[:end]), "&#")
	base := 10
	if hex := strings.TrimLeft(digits, "xX"); len(hex) == len(digits)-1 {
		digits, base = hex, 16
	}
	value, err := strconv.ParseUint(digits, base, 7)
	if !ok || err != nil {
		return 0, 0, false
	}
	return byte(value), end + 1, false
}

// htmlBegins reports whether b can be the beginning of a character reference.
func htmlBegins(b string) bool {
	if len(b) < 2 {
		return b == "&"
	}
	digits, ok := strings.CutPrefix(b, "&#")
	if hex := strings.TrimLeft(digits, "xX"); len(hex) == len(digits)-1 {
		return ok && strings.Trim(hex, "0123456789abcdefABCDEF") == ""
	}
	return ok && strings.Trim(digits, "0123456789") == ""
}

// hexEscape decodes the hexadecimal digits of an escape from b[at:].
func hexEscape(b []byte, at, digits int) (c byte, n int, cut bool) {
	value := 0
	for i := at; i < at+digits; i++ {
		if i == len(b) {
			return 0, 0, true
		}
		d := strings.IndexByte("0123456789abcdef", b[i]|0x20)
		if d < 0 || b[i] < '0' {
			return 0, 0, false
		}
		value = value<<4 | d
	}
	if value > 0x7f {
		return 0, 0, false
	}
	return byte(value), at + digits, false
}

// unescaped is a text in which the escapes of characters that forms contain are decoded;
// other escapes stay unchanged.
type unescaped struct {
	text  []byte
	marks []mark // the decoded escapes, in order
	cut   int    // where in the raw text an incomplete escape begins; its length if there is none
}

// mark is an escape: its range in the raw text, its character, and how many bytes the
// unescaped text has up to its end.
type mark struct {
	from, to, at int
	c            byte
}

// read decodes raw. It returns false if raw contains no complete escape.
func (u *unescaped) read(f *Finder, raw []byte) bool {
	u.marks, u.cut = u.marks[:0], len(raw)
	for _, lead := range []byte(escapeLeads) {
		for at := 0; ; at++ {
			next := bytes.IndexByte(raw[at:], lead)
			if next < 0 {
				break
			}
			at += next
			if at+1 < len(raw) && !seconds[raw[at+1]] {
				continue
			}
			c, n, cut := unescape(raw[at:])
			switch {
			case n > 0 && f.chars[c]:
				u.marks = append(u.marks, mark{from: at, to: at + n, c: c})
				at += n - 1
			case cut:
				u.cut = min(u.cut, at)
			}
		}
	}
	if len(u.marks) == 0 {
		return false
	}
	slices.SortFunc(u.marks, func(a, b mark) int { return a.from - b.from })
	u.text = u.text[:0]
	from := 0
	for i, m := range u.marks {
		u.text = append(append(u.text, raw[from:m.from]...), m.c)
		u.marks[i].at, from = len(u.text), m.to
	}
	u.text = append(u.text, raw[from:u.cut]...)
	return true
}

// raw converts a position of the unescaped text to one of the raw text.
func (u *unescaped) raw(at int) int {
	i, _ := slices.BinarySearchFunc(u.marks, at, func(m mark, at int) int { return m.at - at - 1 })
	if i > 0 {
		return u.marks[i-1].to + at - u.marks[i-1].at
	}
	return at
}

// whole moves a position of the raw text that is inside an escape to the escape's
// beginning.
func (u *unescaped) whole(at int) int {
	i, _ := slices.BinarySearchFunc(u.marks, at, func(m mark, at int) int { return m.to - at - 1 })
	if i < len(u.marks) && u.marks[i].from < at {
		return u.marks[i].from
	}
	return at
}
