// Package bounded bounds what could go on for ever: a buffer keeps so many bytes, a reader ends with a
// context, and a file that is too large is an error. The buffers have no ReadFrom method, because
// os/exec would use it past any bound.
package bounded

import (
	"context"
	"io"
	"sync"
)

// Buffer keeps the first bytes that are written to it. It is safe for concurrent use.
type Buffer struct {
	Most int   // how many bytes it keeps
	Err  error // what a Write of more bytes returns; nil: it succeeds and drops them

	mu   sync.Mutex
	data []byte
	over bool
}

// Write keeps as many bytes as there is room for.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := min(len(p), b.Most-len(b.data))
	b.data = append(b.data, p[:room]...)
	if room == len(p) {
		return len(p), nil
	}
	if b.over = true; b.Err != nil {
		return room, b.Err
	}
	return len(p), nil
}

// Bytes returns what was kept. It is valid until Reset.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data
}

// String returns what was kept.
func (b *Buffer) String() string { return string(b.Bytes()) }

// Over reports whether more bytes were written than are kept.
func (b *Buffer) Over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// Reset empties the buffer.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data, b.over = nil, false
}

// Tail keeps the last bytes that are written to it. It is safe for concurrent use.
type Tail struct {
	Most int // how many bytes it keeps

	mu   sync.Mutex
	data []byte
}

// Write keeps the end of all that was written.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-t.Most):]...)
	t.data = append(t.data[:0], t.data[max(0, len(t.data)-t.Most):]...)
	return len(p), nil
}

// String returns what was kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// Reader returns a reader of r that fails when ctx ends, with the cause of its end.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
