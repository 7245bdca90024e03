package mcpproxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/nonblock"
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
// belong to the caller, and h is what they take; it may be nil.
func (f *frameReader) next(h *hold) ([]byte, error) {
	for {
		line, err := f.line(h)
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

func (f *frameReader) line(h *hold) ([]byte, error) {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		n := len(line) + len(part)
		if n > f.limit {
			return nil, f.skip(h, line, part, err, errTooLong)
		}
		if n > cap(line) {
			more := min(max(n, 2*cap(line)), f.limit)
			if h != nil && !h.resize(more) {
				return nil, f.skip(h, line, part, err, errNoRoom)
			}
			line = append(make([]byte, 0, more), line...)
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

// skip drops a line that cannot be kept, for the reason given, and the rest of it.
func (f *frameReader) skip(h *hold, line, part []byte, err, reason error) error {
	var id idFinder
	id.look(line)
	id.look(part)
	if h != nil {
		h.free() // the rest may be long in coming
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.r.ReadSlice('\n')
		id.look(part)
	}
	if err != nil {
		return err
	}
	return &skippedError{reason, id.found()}
}

// writeLimit is how long a client may leave a message unread; at least half of
// it.
const writeLimit = 30 * time.Second

// frameWriter writes whole lines. Those that are ready at the same time go in one
// write: a caller that finds no write under way writes for all that come meanwhile.
type frameWriter struct {
	w        io.Writer
	deadline func(time.Time) error // nil when the writer has none
	broken   func(error)           // told of the first error; may be nil

	mu      sync.Mutex
	room    sync.Cond // signalled when a write has ended
	lines   []byte    // that wait
	writing bool
	failed  error
	spare   []byte    // memory of the lines before
	until   time.Time // the deadline that is set
}

// maxWaiting is how many bytes may wait for a write that is under way.
const maxWaiting = 256 << 10

func (f *frameWriter) to(w io.Writer) {
	f.w, f.room.L = nonblock.Writer(w), &f.mu
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		f.deadline = d.SetWriteDeadline
	}
}

// write sends one message, or leaves a short one to the write that is under way. After
// an error every further message fails.
func (f *frameWriter) write(msg []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.writing && len(f.lines)+len(msg) > maxWaiting && f.failed == nil {
		f.room.Wait()
	}
	if f.failed != nil {
		return f.failed
	}
	f.lines = append(append(f.lines, msg...), '\n')
	if f.writing {
		return nil
	}
	f.writing = true
	f.mu.Unlock()
	runtime.Gosched() // lets in callers with a line for the same write
	f.mu.Lock()
	for len(f.lines) > 0 && f.failed == nil {
		f.flush()
	}
	f.writing = false
	f.room.Broadcast()
	err := f.failed
	if err != nil && f.broken != nil {
		f.mu.Unlock()
		f.broken(err)
		f.mu.Lock()
	}
	return err
}

// settle waits until what others left to a write that is under way is written.
func (f *frameWriter) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.writing {
		f.room.Wait()
	}
}

// flush writes what waits. The lock is held, but not during the write.
func (f *frameWriter) flush() {
	lines := f.lines
	f.lines, f.spare = f.spare[:0], nil
	f.extend()
	f.mu.Unlock()
	_, err := f.w.Write(lines)
	f.mu.Lock()
	if err != nil {
		f.failed = fmt.Errorf("write message: %w", err)
	}
	if cap(lines) <= maxWaiting {
		f.spare = lines[:0]
	}
	f.room.Broadcast()
}

// extend moves the deadline. That costs as much as a short write, so it is done
// once in a while only.
func (f *frameWriter) extend() {
	if f.deadline == nil {
		return
	}
	if now := time.Now(); f.until.Sub(now) < writeLimit/2 {
		f.until = now.Add(writeLimit)
		_ = f.deadline(f.until)
	}
}
