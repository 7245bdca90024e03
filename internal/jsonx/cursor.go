package jsonx

// Cursor is a position in JSON text that moves over tokens. Every JSON reader of this
// package and of the model proxy uses it. It checks the grammar only; names, depth and
// sizes are checked by the reader. When a method fails, the cursor is at the offending
// byte.
type Cursor struct {
	data []byte
	pos  int
}

// NewCursor returns a cursor on the first byte.
func NewCursor(data []byte) Cursor { return Cursor{data: data} }

// Pos returns the cursor's offset in bytes.
func (c *Cursor) Pos() int { return c.pos }

// Since returns the text from an offset up to the cursor. It aliases the data.
func (c *Cursor) Since(start int) []byte { return c.data[start:c.pos] }

// AtEnd reports whether no byte is left.
func (c *Cursor) AtEnd() bool { return c.pos == len(c.data) }

// Peek returns the byte at the cursor, or 0 at the end.
func (c *Cursor) Peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return 0
}

// Space moves over white space.
func (c *Cursor) Space() {
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

// Word moves over w if w is at the cursor.
func (c *Cursor) Word(w string) bool {
	if len(c.data)-c.pos < len(w) || string(c.data[c.pos:c.pos+len(w)]) != w {
		return false
	}
	c.pos += len(w)
	return true
}

// Open moves over the bracket that begins an array or object, and reports whether an
// element follows. It moves over the whole of an empty one.
func (c *Cursor) Open(end byte) bool {
	c.pos++
	c.Space()
	if c.Peek() == end {
		c.pos++
		return false
	}
	return true
}

// Next moves over what follows an element: a comma (then more is true), or the bracket that
// ends the array or object. ok is false for anything else.
func (c *Cursor) Next(end byte) (more, ok bool) {
	c.Space()
	switch c.Peek() {
	case ',':
		c.pos++
		c.Space()
		return true, true
	case end:
		c.pos++
		return false, true
	}
	return false, false
}

// Colon moves over the colon between a name and its value.
func (c *Cursor) Colon() bool {
	c.Space()
	if c.Peek() != ':' {
		return false
	}
	c.pos++
	c.Space()
	return true
}

// Number moves over a number. The number is whole when it is written without a fraction
// and without an exponent.
func (c *Cursor) Number() (whole, ok bool) {
	if c.Peek() == '-' {
		c.pos++
	}
	if c.Peek() == '0' {
		c.pos++
	} else if !c.digits() {
		return false, false
	}
	whole = true
	if c.Peek() == '.' {
		whole = false
		c.pos++
		if !c.digits() {
			return false, false
		}
	}
	if e := c.Peek(); e == 'e' || e == 'E' {
		whole = false
		c.pos++
		if sign := c.Peek(); sign == '+' || sign == '-' {
			c.pos++
		}
		if !c.digits() {
			return false, false
		}
	}
	return whole, true
}

func (c *Cursor) digits() bool {
	start := c.pos
	for c.pos < len(c.data) && c.data[c.pos] >= '0' && c.data[c.pos] <= '9' {
		c.pos++
	}
	return c.pos > start
}
