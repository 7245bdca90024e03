package jsonx

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string; the decoder stands on its opening quote.
func (d *decoder) str() (string, error) {
	open := d.pos
	d.pos++
	start := d.pos
	if end := StringEnd(d.data, open); end >= 0 {
		if part := d.data[start:end]; bytes.IndexByte(part, '\\') < 0 && !HasControl(part) {
			d.pos = end + 1
			return string(part), nil
		}
	}
	var buf []byte
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		switch {
		case c == '"':
			part := d.data[start:d.pos]
			d.pos++
			if buf == nil {
				return string(part), nil
			}
			return string(append(buf, part...)), nil
		case c == '\\':
			buf = append(buf, d.data[start:d.pos]...)
			var err error
			if buf, err = d.escape(buf); err != nil {
				return "", err
			}
			start = d.pos
		case c < 0x20:
			return "", d.fail(d.pos, "control character in a string")
		default:
			d.pos++
		}
	}
	return "", d.fail(open, "string without an end")
}

// escape reads one escape sequence and appends what it stands for.
func (d *decoder) escape(buf []byte) ([]byte, error) {
	at := d.pos
	if at+1 >= len(d.data) {
		return nil, d.fail(at, "string without an end")
	}
	c := d.data[at+1]
	d.pos += 2
	switch c {
	case '"', '\\', '/':
		return append(buf, c), nil
	case 'b':
		return append(buf, '\b'), nil
	case 'f':
		return append(buf, '\f'), nil
	case 'n':
		return append(buf, '\n'), nil
	case 'r':
		return append(buf, '\r'), nil
	case 't':
		return append(buf, '\t'), nil
	case 'u':
		r, err := d.unicodeEscape(at)
		if err != nil {
			return nil, err
		}
		return utf8.AppendRune(buf, r), nil
	}
	return nil, d.fail(at, "unknown escape")
}

// unicodeEscape reads the digits after \u and, for a high surrogate, the low
// one that must follow. A surrogate on its own is refused.
func (d *decoder) unicodeEscape(at int) (rune, error) {
	r, ok := d.hex4()
	if !ok {
		return 0, d.fail(at, "unknown escape")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if d.pos+1 < len(d.data) && d.data[d.pos] == '\\' && d.data[d.pos+1] == 'u' {
		d.pos += 2
		low, ok := d.hex4()
		if full := utf16.DecodeRune(r, low); ok && full != utf8.RuneError {
			return full, nil
		}
	}
	return 0, d.fail(at, "half of a surrogate pair")
}

func (d *decoder) hex4() (rune, bool) {
	if d.pos+4 > len(d.data) {
		return 0, false
	}
	var r rune
	for _, c := range d.data[d.pos : d.pos+4] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	d.pos += 4
	return r, true
}
