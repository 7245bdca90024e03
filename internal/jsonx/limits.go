package jsonx

import (
	"bytes"
	"cmp"
	"fmt"
)

// Limits bound what the decoder accepts. A zero member means its default.
type Limits struct {
	Bytes   int // length of the document; default 4 MiB
	Depth   int // nested arrays and objects, the outermost counts; default 32
	Members int // values in the whole document; default 200,000
	// Trusted is for documents that come with the program or from the person,
	// not from the agent: a reader with 64-bit floats may round their numbers,
	// and their names may differ only in case. Names must still be unique.
	Trusted bool
}

// The defaults of Limits.
const (
	DefaultBytes   = 4 << 20
	defaultDepth   = 32
	defaultMembers = 200_000
)

func (l Limits) orDefaults() Limits {
	l.Bytes = cmp.Or(max(l.Bytes, 0), DefaultBytes)
	l.Depth = cmp.Or(max(l.Depth, 0), defaultDepth)
	l.Members = cmp.Or(max(l.Members, 0), defaultMembers)
	return l
}

// SyntaxError says why and where a document was refused. It never quotes the document.
type SyntaxError struct {
	Offset int    // in bytes
	Line   int    // from 1
	Reason string // "duplicate name"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at line %d, byte %d", e.Reason, e.Line, e.Offset)
}

// Line returns the line, from 1, of an offset in a document.
func Line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
