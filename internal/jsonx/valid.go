package jsonx

// Valid reports whether data is one JSON document, no more: names may repeat and
// texts may be of any bytes. It is for what is passed on as it is, to a reader
// who has to make sense of it.
func Valid(data []byte) bool {
	d := &decoder{data: data}
	d.space()
	if !d.valid(0) {
		return false
	}
	d.space()
	return d.pos == len(data)
}

// maxNesting is what encoding/json takes.
const maxNesting = 10_000

func (d *decoder) valid(depth int) bool {
	switch c := d.peek(); {
	case c == '"':
		return d.validString()
	case c == '{' || c == '[':
		return depth < maxNesting && d.validParts(c, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return d.validNumber()
	}
	return d.word("true") || d.word("false") || d.word("null")
}

// validParts passes over an object or an array.
func (d *decoder) validParts(open byte, depth int) bool {
	end := open + 2 // '}' of '{', ']' of '['
	d.pos++
	d.space()
	if d.peek() == end {
		d.pos++
		return true
	}
	for {
		d.space()
		if open == '{' {
			if d.peek() != '"' || !d.validString() {
				return false
			}
			d.space()
			if d.peek() != ':' {
				return false
			}
			d.pos++
			d.space()
		}
		if !d.valid(depth) {
			return false
		}
		d.space()
		switch d.peek() {
		case ',':
			d.pos++
		case end:
			d.pos++
			return true
		default:
			return false
		}
	}
}

func (d *decoder) validString() bool {
	end := StringEnd(d.data, d.pos)
	if end < 0 || HasControl(d.data[d.pos:end]) {
		return false
	}
	for d.pos++; d.pos < end; {
		rest := d.data[d.pos:end]
		i := 0
		for i+8 <= len(rest) && is(word(rest, i), '\\') == 0 {
			i += 8
		}
		for i < len(rest) && rest[i] != '\\' {
			i++
		}
		if d.pos += i; d.pos < end && !d.validEscape() {
			return false
		}
	}
	d.pos = end + 1
	return true
}

func (d *decoder) validEscape() bool {
	c := d.data[d.pos+1] // there is one: the quote behind it is not escaped
	d.pos += 2
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		_, ok := d.hex4()
		return ok
	}
	return false
}

func (d *decoder) validNumber() bool {
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return false
	}
	if d.peek() == '.' {
		d.pos++
		if !d.digits() {
			return false
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		return d.digits()
	}
	return true
}
