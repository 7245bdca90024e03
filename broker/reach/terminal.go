package reach

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// How many bytes are buffered on the way to the agent's terminal and from it. When the output is
// not read, the agent has to wait.
const (
	maxTyped  = 64 << 10
	maxOutput = 256 << 10
)

// terminal is the host's end of the agent's terminal: what was typed and is not sent yet, and what
// the agent wrote and is not read yet. It outlives links.
type terminal struct {
	mu      sync.Mutex
	changed sync.Cond // signals a change of the fields below

	typed      bytes.Buffer // at most mostTyped
	cols, rows int          // the size that the terminal is to have
	resized    bool         // the size was not sent yet

	output  bytes.Buffer // at most mostOutput and one message
	have    uint64       // how many bytes of output were received, over all links
	past    int64        // see History
	ended   bool         // no more output comes
	closed  bool
	holdIn  bool // reads fail
	holdOut bool // writes that would wait fail
}

func newTerminal() *terminal {
	s := &terminal{}
	s.changed.L = &s.mu
	return s
}

// change changes fields while holding the lock, and wakes the waiters.
func (s *terminal) change(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	s.changed.Broadcast()
}

// Read returns what the agent wrote. io.EOF means that the agent has ended.
func (s *terminal) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.holdIn:
			return 0, os.ErrDeadlineExceeded
		case s.output.Len() > 0:
			n, _ := s.output.Read(p)
			s.changed.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		case s.closed:
			return 0, io.ErrClosedPipe
		}
		s.changed.Wait()
	}
}

// Write passes all bytes to the agent. It waits while the agent takes none.
func (s *terminal) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.closed || s.ended {
			return n, io.ErrClosedPipe
		}
		n += s.put(p[n:])
		if n == len(p) {
			return n, nil
		}
		if s.holdOut {
			return n, os.ErrDeadlineExceeded
		}
		s.changed.Wait()
	}
}

// TryWrite takes as many bytes as there is room for, and returns their number.
func (s *terminal) TryWrite(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ended {
		return 0, io.ErrClosedPipe
	}
	return s.put(p), nil
}

// put buffers what there is room for until it is sent. The lock is held.
func (s *terminal) put(p []byte) int {
	n := min(len(p), maxTyped-s.typed.Len())
	if n > 0 {
		s.typed.Write(p[:n])
		s.changed.Broadcast()
	}
	return n
}

// HoldReads makes reads fail with os.ErrDeadlineExceeded until it is called with false.
func (s *terminal) HoldReads(hold bool) { s.change(func() { s.holdIn = hold }) }

// HoldWrites is HoldReads for writes that would wait.
func (s *terminal) HoldWrites(hold bool) { s.change(func() { s.holdOut = hold }) }

// AwaitExit waits until the agent has ended, and returns false if the Stream is closed before.
func (s *terminal) AwaitExit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended && !s.closed {
		s.changed.Wait()
	}
	return !s.closed
}

// Size returns the size that the terminal has or will get.
func (s *terminal) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// History returns how many of the bytes that Read returns first are older than this process.
func (s *terminal) History() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past
}

// next waits for something to send: a new size, or what was typed. It returns nil when the terminal
// is closed or the link is over.
func (s *terminal) next(over func() bool) *link.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed || over():
			return nil
		case s.resized:
			s.resized = false
			return &link.Message{Kind: link.Size, Data: link.SizeData(s.cols, s.rows)}
		case s.typed.Len() > 0:
			data := bytes.Clone(s.typed.Next(maxKeys))
			s.changed.Broadcast()
			return &link.Message{Kind: link.Keys, Data: data}
		}
		s.changed.Wait()
	}
}

// mostKeys is how many typed bytes are sent in one message.
const maxKeys = 16 << 10

// wrote adds output of the agent. It waits while the buffer is full.
func (s *terminal) wrote(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.output.Len() >= maxOutput && !s.closed {
		s.changed.Wait()
	}
	s.have += uint64(len(data))
	if !s.closed {
		s.output.Write(data)
	}
	s.changed.Broadcast()
}

// Unread returns the output that was received and not read, and how many bytes were received in all,
// for the Order of the next process.
func (s *terminal) Unread() (unread []byte, have uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.output.Bytes()), s.have
}

// Resize tells the agent the size of its terminal.
func (s *terminal) Resize(_ context.Context, cols, rows int) error {
	if cols < 1 || rows < 1 || cols > 65535 || rows > 65535 {
		return fault.New("", "resize terminal: %d×%d is not the size of a terminal", cols, rows)
	}
	s.change(func() { s.cols, s.rows, s.resized = cols, rows, true })
	return nil
}
