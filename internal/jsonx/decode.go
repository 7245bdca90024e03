package jsonx

import (
	"unicode/utf8"
)

// Parse reads one document. It returns a *SyntaxError for anything that two
// readers could understand differently.
func Parse(data []byte, limits Limits) (Value, error) {
	l := limits.orDefaults()
	d := &decoder{data: data, limits: l}
	if len(data) > l.Bytes {
		return Value{}, d.fail(l.Bytes, "document is too large")
	}
	if !utf8.Valid(data) {
		return Value{}, d.fail(firstInvalid(data), "invalid UTF-8")
	}
	d.space()
	v, err := d.value(1)
	if err != nil {
		return Value{}, err
	}
	d.space()
	if d.pos != len(data) {
		return Value{}, d.fail(d.pos, "data after the value")
	}
	return v, nil
}

type decoder struct {
	data   []byte
	pos    int
	values int
	limits Limits
}

func (d *decoder) fail(offset int, reason string) error {
	return &SyntaxError{Offset: offset, Line: Line(d.data, offset), Reason: reason}
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) value(depth int) (Value, error) {
	if d.values++; d.values > d.limits.Members {
		return Value{}, d.fail(d.pos, "too many values")
	}
	start := d.pos
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		s, err := d.str()
		return Value{Kind: String, Text: s, Offset: start}, err
	case c == '-' || (c >= '0' && c <= '9'):
		return d.number()
	case d.word("true"):
		return Value{Kind: Bool, Truth: true, Offset: start}, nil
	case d.word("false"):
		return Value{Kind: Bool, Offset: start}, nil
	case d.word("null"):
		return Value{Offset: start}, nil
	case d.pos >= len(d.data):
		return Value{}, d.fail(d.pos, "unexpected end")
	}
	return Value{}, d.fail(d.pos, "unexpected character")
}

func (d *decoder) word(w string) bool {
	if len(d.data)-d.pos < len(w) || string(d.data[d.pos:d.pos+len(w)]) != w {
		return false
	}
	d.pos += len(w)
	return true
}

func (d *decoder) array(depth int) (Value, error) {
	v := Value{Kind: Array, Offset: d.pos}
	if depth > d.limits.Depth {
		return v, d.fail(d.pos, "nested too deeply")
	}
	d.pos++
	d.space()
	if d.peek() == ']' {
		d.pos++
		return v, nil
	}
	for {
		d.space()
		item, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case ']':
			d.pos++
			return v, nil
		default:
			return v, d.fail(d.pos, "expected ',' or ']'")
		}
	}
}

func (d *decoder) object(depth int) (Value, error) {
	v := Value{Kind: Object, Offset: d.pos}
	if depth > d.limits.Depth {
		return v, d.fail(d.pos, "nested too deeply")
	}
	d.pos++
	d.space()
	if d.peek() == '}' {
		d.pos++
		return v, nil
	}
	seen := names{exactOnly: d.limits.Trusted}
	for {
		d.space()
		name, err := d.name(&seen)
		if err != nil {
			return v, err
		}
		member, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Member{Name: name, Value: member})
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return v, nil
		default:
			return v, d.fail(d.pos, "expected ',' or '}'")
		}
	}
}

// name reads a member's name, which must not be among those seen, up to where
// the value begins.
func (d *decoder) name(seen *names) (string, error) {
	at := d.pos
	if d.peek() != '"' {
		return "", d.fail(at, "expected a name")
	}
	name, err := d.str()
	if err != nil {
		return "", err
	}
	if reason := seen.add(name); reason != "" {
		return "", d.fail(at, reason)
	}
	d.space()
	if d.peek() != ':' {
		return "", d.fail(d.pos, "expected ':'")
	}
	d.pos++
	d.space()
	return name, nil
}
