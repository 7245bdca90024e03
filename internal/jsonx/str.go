package jsonx

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Span is the position of a string in the data, without its quotes.
type Span struct {
	start, end int
	lone       int  // offset of the first escape that is half of a surrogate pair, or 0
	escaped    bool // the string has escapes
}

// Escaped reports whether the string is written with escapes.
func (s Span) Escaped() bool { return s.escaped }

// Fault is a defect of a string.
type Fault uint8

// The faults of strings.
const (
	Sound     Fault = iota
	Unended         // the text ends before the string does
	Control         // a byte below space
	BadEscape       // an escape that JSON does not have, or half of one
)

// Text moves over a string, from its opening quote. It checks the escapes, but accepts half of
// a surrogate pair.
func (c *Cursor) Text() (Span, Fault) {
	c.pos++
	s := Span{start: c.pos}
	for {
		c.pos = special(c.data, c.pos)
		if c.pos == len(c.data) {
			return s, Unended
		}
		switch c.data[c.pos] {
		case '"':
			s.end = c.pos
			c.pos++
			return s, Sound
		case '\\':
			r, size := unescape(c.data[c.pos:])
			if size == 0 {
				return s, BadEscape
			}
			if utf16.IsSurrogate(r) && s.lone == 0 {
				s.lone = c.pos
			}
			s.escaped = true
			c.pos += size
		default:
			return s, Control
		}
	}
}

// Decode returns the text of a string. Half of a surrogate pair becomes U+FFFD.
func (c *Cursor) Decode(s Span) string {
	raw := c.data[s.start:s.end]
	if !s.escaped {
		return string(raw)
	}
	var out strings.Builder
	out.Grow(len(raw))
	for {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			out.Write(raw)
			return out.String()
		}
		out.Write(raw[:plain])
		r, size := unescape(raw[plain:])
		out.WriteRune(r)
		raw = raw[plain+size:]
	}
}

// Same reports whether two strings have the same text.
func (c *Cursor) Same(a, b Span) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(c.data[a.start:a.end], c.data[b.start:b.end])
	}
	return c.Decode(a) == c.Decode(b)
}

// unescape reads the escape at the start of b. It returns the character and the size of the
// escape, which is 0 if b begins with none. It reads a surrogate pair as one escape, and
// returns half of a pair unchanged.
func unescape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeUnicode(b)
	}
	return 0, 0
}

func unescapeUnicode(b []byte) (rune, int) {
	const size = len(`\u0000`)
	r, ok := hex4(b[2:])
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 2*size && b[size] == '\\' && b[size+1] == 'u' {
		low, ok := hex4(b[size+2:])
		if full := utf16.DecodeRune(r, low); ok && full != utf8.RuneError {
			return full, 2 * size
		}
	}
	return r, size
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	r, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(r), err == nil
}
