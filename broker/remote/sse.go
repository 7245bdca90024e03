package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errTooLong = errors.New("the message is too long")

// events reads a stream of server-sent events.
type events struct {
	r *bufio.Reader
	// grow is called before the kept part of an event grows to some bytes, and with 0 when nothing
	// is kept any more. Its error ends the stream.
	grow    func(bytes int) error
	begun   bool
	afterCR bool // the last line ended with CR, so that a following LF belongs to it
}

// next returns the data of the next event that is a message. It skips other events, comments, other
// fields, and an event that is incomplete at the end of the stream.
func (e *events) next() ([]byte, error) {
	var data []byte
	kind, has := "", false
	for {
		line, err := e.line(len(data))
		if err != nil {
			return nil, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0: // the end of an event
			if has && len(data) > 0 && (kind == "" || kind == "message") {
				return data, nil
			}
			data, kind, has = nil, "", false
			if err := e.grow(0); err != nil {
				return nil, err
			}
		case string(name) == "data" && has:
			data = append(append(data, '\n'), value...)
		case string(name) == "data":
			data, has = value, true
		case string(name) == "event":
			kind = string(value)
		}
	}
}

// line returns the next line without its end, which is CR, LF or both. kept is the number of bytes
// that are kept of the event so far.
func (e *events) line(kept int) ([]byte, error) {
	if !e.begun {
		e.begun = true
		if mark, err := e.r.Peek(3); err == nil && string(mark) == "\ufeff" {
			_, _ = e.r.Discard(3)
		}
	}
	var line []byte
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return nil, err
		}
		second := c == '\n' && e.afterCR
		e.afterCR = c == '\r'
		switch {
		case second:
		case c == '\n' || c == '\r':
			return line, nil
		default:
			if err := e.grow(kept + len(line) + 1); err != nil {
				return nil, err
			}
			line = append(line, c)
		}
	}
}

// readAll reads a message that is the whole body of a response.
func readAll(r io.Reader, grow func(bytes int) error) ([]byte, error) {
	var all bytes.Buffer
	part := make([]byte, 16<<10)
	for {
		n, err := r.Read(part)
		if n > 0 {
			if err := grow(all.Len() + n); err != nil {
				return nil, err
			}
			all.Write(part[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			return all.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}
