package jsonx

import (
	"bytes"
	"unicode/utf8"
)

// Walk calls f for each member of an object, in the written order, without judging its value. It is
// like Split, but for objects of any size, and names may differ only in case. raw aliases the
// document, and at is its offset there. Walk returns the first error of f.
func Walk(data []byte, f func(name string, raw []byte, at int) error) error {
	d := &decoder{Cursor: NewCursor(data)}
	return d.members(&names{exactOnly: true}, f)
}

// members calls f for each member of the object that is the document.
func (d *decoder) members(seen *names, f func(name string, raw []byte, at int) error) error {
	return d.whole('{', "expected an object", func() error {
		at := d.pos
		name, err := d.name(seen)
		if err != nil {
			return err
		}
		if !utf8.ValidString(name) {
			return d.fail(at, "invalid UTF-8")
		}
		at = d.pos
		raw, err := d.skip()
		if err != nil {
			return err
		}
		return f(name, raw, at)
	})
}

// WalkArray calls f for each element of an array, as Walk does for members.
func WalkArray(data []byte, f func(raw []byte, at int) error) error {
	d := &decoder{Cursor: NewCursor(data)}
	return d.whole('[', "expected an array", func() error {
		at := d.pos
		raw, err := d.skip()
		if err != nil {
			return err
		}
		return f(raw, at)
	})
}

// whole moves over the array or object that is the document; part moves over an element.
func (d *decoder) whole(open byte, otherwise string, part func() error) error {
	d.Space()
	if d.Peek() != open {
		return d.fail(d.pos, otherwise)
	}
	if err := d.each(open+2, part); err != nil { // ']' is '[' + 2, and '}' is '{' + 2
		return err
	}
	return d.end()
}

// skip moves over one value and looks only at its brackets and strings.
func (d *decoder) skip() ([]byte, error) {
	start, depth := d.pos, 0
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; c {
		case '"':
			end := StringEnd(d.data, d.pos)
			if end < 0 {
				return nil, d.fail(d.pos, "string without an end")
			}
			d.pos = end + 1
		case '{', '[':
			depth++
			d.pos++
		case '}', ']', ',':
			if depth == 0 {
				if d.pos == start {
					return nil, d.fail(start, "expected a value")
				}
				return bytes.TrimRight(d.data[start:d.pos], " \t\n\r"), nil
			}
			if c != ',' {
				depth--
			}
			d.pos++
		default:
			d.pos++
		}
	}
	return nil, d.fail(start, "unexpected end")
}

// Unquote returns the text of a JSON string that is all of data. It returns false for anything else,
// and for a string that readers could understand differently.
func Unquote(data []byte) (string, bool) {
	v, err := Parse(data, Limits{Bytes: len(data) + 1})
	return v.Text, err == nil && v.Kind == String
}
