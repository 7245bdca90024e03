package jsonx

import "unicode/utf8"

// Field is one member of an object whose value has not been judged yet.
type Field struct {
	Name string
	Raw  []byte // aliases the document
}

// maxFields is how many members Split accepts. What it is for has a handful, and each
// one takes many times the bytes that it is written with.
const maxFields = 1024

// Split takes an object apart into its members without judging their values: each is
// skipped over by its brackets and strings, however deep, so bytes that Parse would
// refuse reach the caller as they came. Names must be UTF-8, and no two alike.
func Split(data []byte) ([]Field, error) {
	d := &decoder{Cursor: NewCursor(data), limits: Limits{Bytes: len(data)}.orDefaults()}
	d.Space()
	if d.Peek() != '{' {
		return nil, d.fail(d.pos, "expected an object")
	}
	var fields []Field
	var seen names
	more, ok := d.Open('}'), true
	for more {
		field, err := d.field(&seen, len(fields))
		if err != nil {
			return fields, err
		}
		fields = append(fields, field)
		if more, ok = d.Next('}'); !ok {
			return fields, d.fail(d.pos, "expected ',' or '}'")
		}
	}
	return fields, d.end()
}

// field reads one member; there were so many before it.
func (d *decoder) field(seen *names, before int) (Field, error) {
	at := d.pos
	name, err := d.name(seen)
	if err != nil {
		return Field{}, err
	}
	if !utf8.ValidString(name) {
		return Field{}, d.fail(at, "invalid UTF-8")
	}
	if before == maxFields {
		return Field{}, d.fail(at, "too many members")
	}
	raw, err := d.skip()
	return Field{Name: name, Raw: raw}, err
}

func (d *decoder) end() error {
	d.Space()
	if !d.AtEnd() {
		return d.fail(d.pos, "data after the value")
	}
	return nil
}

// skip passes over one value by its brackets and strings alone.
func (d *decoder) skip() ([]byte, error) {
	start, depth := d.pos, 0
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; c {
		case '"':
			if err := d.skipString(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
			d.pos++
		case '}', ']', ',':
			if depth == 0 {
				if d.pos == start {
					return nil, d.fail(start, "expected a value")
				}
				return trimRight(d.data[start:d.pos]), nil
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

func (d *decoder) skipString() error {
	end := StringEnd(d.data, d.pos)
	if end < 0 {
		return d.fail(d.pos, "string without an end")
	}
	d.pos = end + 1
	return nil
}

func trimRight(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case ' ', '\t', '\n', '\r':
			b = b[:len(b)-1]
		default:
			return b
		}
	}
	return b
}
