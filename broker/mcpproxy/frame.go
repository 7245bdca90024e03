package mcpproxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// errTooLong is a line above the limit. The reader has skipped it and can go
// on with the next.
var errTooLong = errors.New("the message is too long")

// frameReader takes lines of bounded length from a stream. It never holds more
// than the limit.
type frameReader struct {
	r     *bufio.Reader
	limit int
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	if b, ok := r.(*bufio.Reader); ok {
		return &frameReader{r: b, limit: limit}
	}
	return &frameReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line that is not empty, without its end. The bytes
// belong to the caller.
func (f *frameReader) next() ([]byte, error) {
	for {
		line, err := f.line()
		if err != nil {
			return nil, err
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

func (f *frameReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		if len(line)+len(part) > f.limit {
			return nil, f.skip(err)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF // a message without its end is none
		default:
			return nil, err
		}
	}
}

// skip drops the rest of a line that is too long.
func (f *frameReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = f.r.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLong
}

// writeLimit is how long a client may leave a message unread; at least half of
// it.
const writeLimit = 30 * time.Second

// frameWriter writes whole lines, one at a time.
type frameWriter struct {
	mu     sync.Mutex
	w      io.Writer
	failed error
	until  time.Time // the deadline that is set
}

// write sends one message. After an error every further message fails.
func (f *frameWriter) write(msg []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return f.failed
	}
	if d, ok := f.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		// Moving the deadline costs as much as a short write, so it is moved
		// once in a while only.
		if now := time.Now(); f.until.Sub(now) < writeLimit/2 {
			f.until = now.Add(writeLimit)
			_ = d.SetWriteDeadline(f.until)
		}
	}
	if _, err := f.w.Write(append(msg, '\n')); err != nil {
		f.failed = fmt.Errorf("write message: %w", err)
	}
	return f.failed
}
