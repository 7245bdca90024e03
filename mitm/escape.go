package mitm

import (
	"bytes"
	"strconv"
	"strings"
)

const (
	// escapeLeads are the characters that escapes begin with.
	escapeLeads = `%\&`
	// longestEscape is the length of the longest escape of one character.
	longestEscape = 6
)

// unescape reads the character at the beginning of b, which may be escaped as
// in a URL (%2d), in JSON (\u002d, \x2d, \/) or in HTML (&#45;, &#x2d;). It
// returns the character and the bytes it took. Without a whole escape there, n
// is 0, and cut says that b ended before one could be told.
func unescape(b []byte) (c byte, n int, cut bool) {
	switch b[0] {
	case '%':
		return hexEscape(b, 1, 2)
	case '\\':
		switch {
		case len(b) == 1:
			return 0, 0, true
		case b[1] == '/':
			return '/', 2, false
		case b[1] == 'x':
			return hexEscape(b, 2, 2)
		case b[1] == 'u':
			return hexEscape(b, 2, 4)
		}
	case '&':
		return htmlEscape(b)
	}
	return 0, 0, false
}

// htmlEscape reads a character by its number, decimal or in hex.
func htmlEscape(b []byte) (c byte, n int, cut bool) {
	const most = longestEscape
	end := bytes.IndexByte(b[:min(len(b), most)], ';')
	if end < 0 {
		head := "&#"[:min(len(b), 2)]
		return 0, 0, len(b) < most && string(b[:len(head)]) == head
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

// matchEscaped compares the beginning of data with a secret of which any
// character may be escaped. It returns how many characters of the secret it
// saw, the bytes that they took, and whether data ended before the secret did;
// if neither the secret is complete nor data was cut, they differ.
func matchEscaped(secret string, data []byte) (known, n int, cut bool) {
	for known < len(secret) {
		if n == len(data) {
			return known, n, true
		}
		if data[n] == secret[known] {
			known, n = known+1, n+1
			continue
		}
		c, took, cut := unescape(data[n:])
		if took == 0 || c != secret[known] {
			return known, n, cut && took == 0
		}
		known, n = known+1, n+took
	}
	return known, n, false
}

// findEscaped returns the place and length of the first appearance of a secret
// with at least one escaped character in data, or -1. What stands before the
// first escape of it stands there as it is.
func (m *matcher) findEscaped(data []byte) (from, n int) {
	from = -1
	for _, lead := range []byte(escapeLeads) {
		for at := 0; ; at++ {
			next := bytes.IndexByte(data[at:], lead)
			if next < 0 {
				break
			}
			at += next
			c, took, _ := unescape(data[at:])
			if took == 0 {
				continue
			}
			if start, length := m.around(data, at, c); start >= 0 && (from < 0 || start < from) {
				from, n = start, length
				break
			}
		}
	}
	return from, n
}

// around looks for a secret whose first escaped character, c, stands at data[at].
func (m *matcher) around(data []byte, at int, c byte) (from, n int) {
	for _, s := range m.secrets {
		for k := range min(len(s), at+1) {
			if s[k] != c || string(data[at-k:at]) != s[:k] {
				continue
			}
			if known, length, _ := matchEscaped(s[k:], data[at:]); known == len(s)-k {
				return at - k, k + length
			}
		}
	}
	return -1, 0
}
