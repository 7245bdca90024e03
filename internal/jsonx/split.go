package jsonx

import "unicode/utf8"

// Field is one member of an object whose value has not been judged yet.
type Field struct {
	Name string
	Raw  []byte // aliases the document
}

// maxFields is how many members Split accepts. Its objects have a handful, and each member
// needs much more memory than its text.
const maxFields = 1024

// Split returns the members of an object without judging their values. It only follows the
// brackets and strings of a value, so a value may be one that Parse would refuse. Names must
// be UTF-8, and no two may be equal or differ only in case or form.
func Split(data []byte) ([]Field, error) {
	d := &decoder{Cursor: NewCursor(data), limits: Limits{Bytes: len(data)}.orDefaults()}
	d.Space()
	if d.Peek() != '{' {
		return nil, d.fail(d.pos, "expected an object")
	}
	var fields []Field
	var seen names
	more := d.Open('}')
	for more {
		field, err := d.field(&seen, len(fields))
		if err != nil {
			return fields, err
		}
		fields = append(fields, field)
		next, ok := d.Next('}')
		if !ok {
			return fields, d.fail(d.pos, "expected ',' or '}'")
		}
		more = next
	}
	return fields, d.end()
}

// field reads one member; before is how many members came first.
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

// skip moves over one value and looks only at its brackets and strings.
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
