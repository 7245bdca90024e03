package body

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// span is a string's place in the data, without its quotes.
type span struct {
	start, end int
	escaped    bool
}

func (r *reader) same(a, b span) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(r.data[a.start:a.end], r.data[b.start:b.end])
	}
	return r.decode(a) == r.decode(b)
}

// str reads a string and decodes it.
func (r *reader) str() (string, error) {
	s, err := r.span()
	if err != nil {
		return "", err
	}
	return r.decode(s), nil
}

// span reads a string and checks its escapes.
func (r *reader) span() (span, error) {
	r.pos++
	s := span{start: r.pos}
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; {
		case c == '"':
			s.end = r.pos
			r.pos++
			return s, nil
		case c < ' ':
			return s, r.errorf("a string holds a control character")
		case c == '\\':
			s.escaped = true
			if !r.escape() {
				return s, r.errorf("a string holds an unknown escape")
			}
		default:
			r.pos++
		}
	}
	return s, r.errorf("a string has no end")
}

// escape reads one escape sequence.
func (r *reader) escape() bool {
	if r.pos+1 >= len(r.data) {
		return false
	}
	switch r.data[r.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		r.pos += 2
		return true
	case 'u':
		if _, ok := hex4(r.data[r.pos+2:]); ok {
			r.pos += 6
			return true
		}
	}
	return false
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

// decode returns the text of a string that was read. Half a surrogate pair
// becomes U+FFFD.
func (r *reader) decode(s span) string {
	raw := r.data[s.start:s.end]
	if !s.escaped {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		if raw[i+1] != 'u' {
			out = append(out, unescape(raw[i+1]))
			i += 2
			continue
		}
		c, _ := hex4(raw[i+2:])
		i += 6
		if utf16.IsSurrogate(c) {
			low := rune(utf8.RuneError)
			if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				low, _ = hex4(raw[i+2:])
			}
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, c)
	}
	return string(out)
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// wellFormed says whether no surrogate of an escaped key stands alone, and no
// null character ends it for those who read texts up to one.
func (r *reader) wellFormed(s span) bool {
	return !strings.ContainsAny(r.decode(s), "\x00\ufffd")
}
