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
	// longestHTML is the length of the longest escape of HTML that is read.
	longestHTML = 6
	// mostBackslashes is how many stand before an escape of JSON that is itself in a
	// string of JSON, and that in another: they double each time.
	mostBackslashes = 8
)

// seconds are the characters that an escape can have in second place.
var seconds = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF/xu#\\") {
		is[c] = true
	}
	return is
}()

// unescape reads the character at the beginning of b, which may be escaped as
// in a URL (%2d), in JSON (\u002d, \x2d, \/, and \\u002d in JSON inside JSON) or in
// HTML (&#45;, &#x2d;). It returns the character and the bytes it took. Without a whole
// escape there, n is 0, and cut says that b ended before one could be told.
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

// backslashEscape reads an escape of JSON.
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

// htmlEscape reads a character by its number, decimal or in hex.
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

// htmlBegins says whether b is the beginning of a character's number.
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

// hexEscape reads digits of an escape from b[at:].
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

// unescaped is a text with the escapes in it read, of those characters that forms
// have; others stay as they are.
type unescaped struct {
	text  []byte
	marks []mark // the escapes, in their order
	cut   int    // where in the raw text an escape begins that it does not hold whole; its length without one
}

// mark is an escape: where it is in the raw text, what it stands for, and how many
// bytes the unescaped text has up to its end.
type mark struct {
	from, to, at int
	c            byte
}

// read reads raw. It returns false if no whole escape is in it.
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

// raw is where in the raw text a place of the unescaped one is.
func (u *unescaped) raw(at int) int {
	i, _ := slices.BinarySearchFunc(u.marks, at, func(m mark, at int) int { return m.at - at - 1 })
	if i > 0 {
		return u.marks[i-1].to + at - u.marks[i-1].at
	}
	return at
}

// whole moves a place of the raw text that is inside an escape to its beginning.
func (u *unescaped) whole(at int) int {
	i, _ := slices.BinarySearchFunc(u.marks, at, func(m mark, at int) int { return m.to - at - 1 })
	if i < len(u.marks) && u.marks[i].from < at {
		return u.marks[i].from
	}
	return at
}
