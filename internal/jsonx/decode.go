package jsonx

import (
	"unicode/utf8"
)

// Parse reads one document. It returns a *SyntaxError for anything that two
// readers could understand differently.
func Parse(data []byte, limits Limits) (Value, error) {
	l := limits.orDefaults()
	d := &decoder{Cursor: NewCursor(data), limits: l}
	if len(data) > l.Bytes {
		return Value{}, d.fail(l.Bytes, "document is too large")
	}
	if !utf8.Valid(data) {
		return Value{}, d.fail(firstInvalid(data), "invalid UTF-8")
	}
	d.Space()
	v, err := d.value(1)
	if err != nil {
		return Value{}, err
	}
	d.Space()
	if !d.AtEnd() {
		return Value{}, d.fail(d.pos, "data after the value")
	}
	return v, nil
}

type decoder struct {
	Cursor
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

func (d *decoder) value(depth int) (Value, error) {
	if d.values++; d.values > d.limits.Members {
		return Value{}, d.fail(d.pos, "too many values")
	}
	start := d.pos
	switch c := d.Peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		s, err := d.str()
		return Value{Kind: String, Text: s, Offset: start}, err
	case c == '-' || (c >= '0' && c <= '9'):
		return d.number()
	case d.Word("true"):
		return Value{Kind: Bool, Truth: true, Offset: start}, nil
	case d.Word("false"):
		return Value{Kind: Bool, Offset: start}, nil
	case d.Word("null"):
		return Value{Offset: start}, nil
	case d.AtEnd():
		return Value{}, d.fail(d.pos, "unexpected end")
	}
	return Value{}, d.fail(d.pos, "unexpected character")
}

func (d *decoder) array(depth int) (Value, error) {
	v := Value{Kind: Array, Offset: d.pos}
	if depth > d.limits.Depth {
		return v, d.fail(d.pos, "nested too deeply")
	}
	more := d.Open(']')
	for more {
		item, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		next, ok := d.Next(']')
		if !ok {
			return v, d.fail(d.pos, "expected ',' or ']'")
		}
		more = next
	}
	return v, nil
}

func (d *decoder) object(depth int) (Value, error) {
	v := Value{Kind: Object, Offset: d.pos}
	if depth > d.limits.Depth {
		return v, d.fail(d.pos, "nested too deeply")
	}
	seen := names{exactOnly: d.limits.Trusted}
	more := d.Open('}')
	for more {
		name, err := d.name(&seen)
		if err != nil {
			return v, err
		}
		member, err := d.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, Member{Name: name, Value: member})
		next, ok := d.Next('}')
		if !ok {
			return v, d.fail(d.pos, "expected ',' or '}'")
		}
		more = next
	}
	return v, nil
}

// name reads a member's name, which must not be among those seen, and moves to the value.
func (d *decoder) name(seen *names) (string, error) {
	at := d.pos
	if d.Peek() != '"' {
		return "", d.fail(at, "expected a name")
	}
	name, err := d.str()
	if err != nil {
		return "", err
	}
	if reason := seen.add(name); reason != "" {
		return "", d.fail(at, reason)
	}
	if !d.Colon() {
		return "", d.fail(d.pos, "expected ':'")
	}
	return name, nil
}

// str reads a string. It refuses a lone surrogate.
func (d *decoder) str() (string, error) {
	open := d.pos
	s, fault := d.Text()
	switch {
	case s.lone > 0:
		return "", d.fail(s.lone, "half of a surrogate pair")
	case fault == Unended:
		return "", d.fail(open, "string without an end")
	case fault == BadEscape && d.pos+1 == len(d.data):
		return "", d.fail(d.pos, "string without an end")
	case fault == BadEscape:
		return "", d.fail(d.pos, "unknown escape")
	case fault == Control:
		return "", d.fail(d.pos, "control character in a string")
	}
	return d.Decode(s), nil
}
