package jsonx

import "unicode/utf8"

// Walk calls f for each member of an object, in the written order, without judging its value. It is
// like Split, but for objects of any size, and names may differ only in case. raw aliases the
// document, and at is its offset there. Walk returns the first error of f.
func Walk(data []byte, f func(name string, raw []byte, at int) error) error {
	d := &decoder{Cursor: NewCursor(data)}
	d.Space()
	if d.Peek() != '{' {
		return d.fail(d.pos, "expected an object")
	}
	seen := names{exactOnly: true}
	more := d.Open('}')
	for more {
		at := d.pos
		name, err := d.name(&seen)
		if err != nil {
			return err
		}
		if !utf8.ValidString(name) {
			return d.fail(at, "invalid UTF-8")
		}
		next, ok, err := d.step('}', func(raw []byte, at int) error { return f(name, raw, at) })
		if err != nil {
			return err
		}
		if !ok {
			return d.fail(d.pos, "expected ',' or '}'")
		}
		more = next
	}
	return d.end()
}

// WalkArray calls f for each element of an array, as Walk does for members.
func WalkArray(data []byte, f func(raw []byte, at int) error) error {
	d := &decoder{Cursor: NewCursor(data)}
	d.Space()
	if d.Peek() != '[' {
		return d.fail(d.pos, "expected an array")
	}
	more := d.Open(']')
	for more {
		var ok bool
		var err error
		if more, ok, err = d.step(']', f); err != nil {
			return err
		}
		if !ok {
			return d.fail(d.pos, "expected ',' or ']'")
		}
	}
	return d.end()
}

// step moves over one value, which it passes to f, and over what follows it.
func (d *decoder) step(end byte, f func(raw []byte, at int) error) (more, ok bool, err error) {
	at := d.pos
	raw, err := d.skip()
	if err != nil {
		return false, false, err
	}
	if err := f(raw, at); err != nil {
		return false, false, err
	}
	more, ok = d.Next(end)
	return more, ok, nil
}

// Unquote returns the text of a JSON string that is all of data. It returns false for anything else,
// and for a string that readers could understand differently.
func Unquote(data []byte) (string, bool) {
	v, err := Parse(data, Limits{Bytes: len(data) + 1})
	return v.Text, err == nil && v.Kind == String
}
