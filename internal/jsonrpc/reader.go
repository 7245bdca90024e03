package jsonrpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// ErrTooLong is a line above the limit.
var ErrTooLong = errors.New("the message is too long")

// ErrNoRoom is a line for which the budget has no room.
var ErrNoRoom = errors.New("there is no room for the message")

// SkippedError is the error for a line that was not kept. The reader has skipped the line
// and can continue with the next one.
type SkippedError struct {
	Reason error           // ErrTooLong or ErrNoRoom
	ID     json.RawMessage // of the message, if FindIDs was called and the id is certain
}

func (e *SkippedError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *SkippedError) Unwrap() error { return e.Reason }

// Budget bounds the memory of several lines together.
type Budget interface {
	// Resize changes how many bytes are used. It changes nothing and reports false when
	// the budget has not enough.
	Resize(bytes int) bool
}

// Reader reads lines of bounded length from a stream. It never holds more than the limit.
type Reader struct {
	r      *bufio.Reader
	limit  int
	finder func() Finder // nil before FindIDs
	stops  bool          // see StopAtTooLong
}

// Finder looks for the id of one message that is being skipped.
type Finder interface {
	// Look looks at the next part of the message.
	Look(part []byte)
	// Found returns the id, or nil when no id is certain.
	Found() json.RawMessage
}

// NewReader reads lines of at most limit bytes. It uses a *bufio.Reader directly,
// without a second buffer.
func NewReader(r io.Reader, limit int) *Reader {
	if b, ok := r.(*bufio.Reader); ok {
		return &Reader{r: b, limit: limit}
	}
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// FindIDs makes the reader look for the id of each skipped message. finder makes a Finder
// for one message.
func (r *Reader) FindIDs(finder func() Finder) { r.finder = finder }

// StopAtTooLong makes Next return ErrTooLong as soon as a line is too long, without waiting
// for its end, which may never come. The reader cannot continue after that.
func (r *Reader) StopAtTooLong() { r.stops = true }

// Next returns the next line that is not empty, without its end. The bytes belong to the
// caller. Next charges them to the budget, if there is one. It returns an unfinished last
// line with io.ErrUnexpectedEOF.
func (r *Reader) Next(budget Budget) ([]byte, error) {
	for {
		line, err := r.line(budget)
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (r *Reader) line(budget Budget) ([]byte, error) {
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		n := len(line) + len(part)
		if n > r.limit && r.stops {
			return nil, ErrTooLong
		}
		if n > r.limit {
			return nil, r.skip(budget, line, part, err, ErrTooLong)
		}
		if n > cap(line) {
			more := min(max(n, 2*cap(line)), r.limit)
			if budget != nil && !budget.Resize(more) {
				return nil, r.skip(budget, line, part, err, ErrNoRoom)
			}
			line = append(make([]byte, 0, more), line...)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// skip drops a line and its unread rest, for the reason given.
func (r *Reader) skip(budget Budget, line, part []byte, err, reason error) error {
	look := func([]byte) {}
	var f Finder
	if r.finder != nil {
		f = r.finder()
		look = f.Look
	}
	look(line)
	look(part)
	if budget != nil {
		budget.Resize(0) // now, because the rest of the line may take long to arrive
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.r.ReadSlice('\n')
		look(part)
	}
	if err != nil {
		return err
	}
	skipped := &SkippedError{Reason: reason}
	if f != nil {
		skipped.ID = f.Found()
	}
	return skipped
}
