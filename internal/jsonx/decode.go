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
	if err := d.end(); err != nil {
		return Value{}, err
	}
	return v, nil
}

type decoder struct {
	Cursor
	values int
	limits Limits
}

// end returns an error unless only white space is left.
func (d *decoder) end() error {
	d.Space()
	if !d.AtEnd() {
		return d.fail(d.pos, "data after the value")
	}
	return nil
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
	err := d.each(']', func() error {
		item, err := d.value(depth + 1)
		v.Items = append(v.Items, item)
		return err
	})
	return v, err
}

func (d *decoder) object(depth int) (Value, error) {
	v := Value{Kind: Object, Offset: d.pos}
	if depth > d.limits.Depth {
		return v, d.fail(d.pos, "nested too deeply")
	}
	seen := names{exactOnly: d.limits.Trusted}
	err := d.each('}', func() error {
		name, err := d.name(&seen)
		if err != nil {
			return err
		}
		member, err := d.value(depth + 1)
		v.Members = append(v.Members, Member{Name: name, Value: member})
		return err
	})
	return v, err
}

// each moves over an array or object, and calls part to move over each of its elements.
func (d *decoder) each(end byte, part func() error) error {
	for more := d.Open(end); more; {
		if err := part(); err != nil {
			return err
		}
		var ok bool
		if more, ok = d.Next(end); !ok {
			return d.fail(d.pos, "expected ',' or '"+string(end)+"'")
		}
	}
	return nil
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
