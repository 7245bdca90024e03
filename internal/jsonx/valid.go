package jsonx

// Valid reports whether data is one JSON document. Names may repeat and strings may have
// any bytes. It is for documents that are passed on unchanged.
func Valid(data []byte) bool {
	c := NewCursor(data)
	c.Space()
	if !c.valid(0) {
		return false
	}
	c.Space()
	return c.AtEnd()
}

// maxNesting is the limit of encoding/json.
const maxNesting = 10_000

func (c *Cursor) valid(depth int) bool {
	switch b := c.Peek(); {
	case b == '"':
		_, fault := c.Text()
		return fault == Sound
	case b == '{' || b == '[':
		return depth < maxNesting && c.validParts(b, depth+1)
	case b == '-' || b >= '0' && b <= '9':
		_, ok := c.Number()
		return ok
	}
	return c.Word("true") || c.Word("false") || c.Word("null")
}

// validParts moves over an object or an array.
func (c *Cursor) validParts(open byte, depth int) bool {
	end := open + 2 // '}' of '{', ']' of '['
	more, ok := c.Open(end), true
	for more {
		if open == '{' && !c.validName() {
			return false
		}
		if !c.valid(depth) {
			return false
		}
		more, ok = c.Next(end)
	}
	return ok
}

func (c *Cursor) validName() bool {
	if c.Peek() != '"' {
		return false
	}
	_, fault := c.Text()
	return fault == Sound && c.Colon()
}
