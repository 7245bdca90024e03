package apt

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine bounds a line of a control file, in bytes.
const maxLine = 1 << 20

var (
	errTwice  = errors.New("a paragraph has the same field twice")
	errFormat = errors.New("not a control file")
)

// stanza is one paragraph of a control file: the values of the requested fields, in the order of
// their names. Continuation lines are separated by a line feed and have no leading blank.
type stanza []string

// stanzas reads the paragraphs of a control file and calls f for each. Field names are compared
// without regard to case; a requested field may appear only once in a paragraph.
func stanzas(r io.Reader, names []string, f func(stanza) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	s := make(stanza, len(names))
	texts := make([]strings.Builder, len(names)) // joining texts would copy long lists once for each line
	seen := make([]bool, len(names))
	field, within := -1, false
	end := func() error {
		if !within {
			return nil
		}
		for i := range texts {
			s[i] = texts[i].String()
			texts[i].Reset()
		}
		err := f(s)
		clear(s)
		clear(seen)
		field, within = -1, false
		return err
	}
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return end()
		}
		if err != nil {
			return err
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			if err := end(); err != nil {
				return err
			}
		case line[0] == ' ' || line[0] == '\t':
			if !within {
				return errFormat
			}
			if field >= 0 {
				texts[field].WriteByte('\n')
				texts[field].Write(bytes.TrimSpace(line))
			}
		default:
			name, value, ok := bytes.Cut(line, []byte(":"))
			if !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") {
				return errFormat
			}
			within, field = true, place(names, name)
			if field < 0 {
				continue
			}
			if seen[field] {
				return errTwice
			}
			seen[field] = true
			texts[field].Write(bytes.TrimSpace(value))
		}
	}
}

// place returns the index of a name, or -1.
func place(names []string, name []byte) int {
	for i, n := range names {
		if len(n) == len(name) && strings.EqualFold(n, string(name)) {
			return i
		}
	}
	return -1
}

// readLine returns the next line without its end. The line is valid until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.ReadSlice('\n')
			if long = append(long, line...); len(long) > maxLine {
				return nil, errFormat
			}
		}
		line = long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return nil, errFormat
	}
	return bytes.TrimRight(line, "\r\n"), err
}
