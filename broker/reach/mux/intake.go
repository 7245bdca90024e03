package mux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-yamux/v5"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/pressure"
)

const (
	// maxUnread is how many bytes of all streams together may be unread: the full initial windows
	// of 32 streams.
	maxUnread = 8 << 20
	// perMessage is about how much memory a message takes beside its buffer, in bytes.
	perMessage = 64
	// readWithin is how long the session waits for readers at that limit, before it resets the
	// stream with the most unread bytes.
	readWithin = 10 * time.Second
	// maxKnown is how many streams may be open in yamux. A well-behaved container stays far below
	// it, even if the host closes streams late.
	maxKnown = 4 * maxStreams
)

// Violations by the other end.
var (
	errLong  = errors.New("a message is too long")
	errAgain = errors.New("a stream was opened twice")
	errMany  = errors.New("far too many streams were opened")
	errEarly = errors.New("a message was received on a stream that was not opened")
)

// Yamux's message head, as far as the intake reads it.
const (
	headSize    = 12
	typeData    = 0
	typeWindow  = 1
	flagOpen    = 1
	flagEnd     = 4 | 8 // closed for writing, or reset
	offsetType  = 1
	offsetFlags = 2
	offsetID    = 4
	offsetSize  = 8
)

// intake is the connection from which the host's yamux session reads. It parses the heads of the
// messages, to count the unread bytes of all streams together: yamux's windows bound only each
// stream by itself, and a hostile end opens hundreds.
type intake struct {
	net.Conn

	// Of the current message. Only Read uses these.
	head   [headSize]byte
	have   int // bytes of head
	left   int // bytes of the body that are still to come
	resets sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // fewer bytes are unread, or closed
	known   map[uint32]*share
	unread  int
	closed  bool
	last    uint32     // the number of the stream that the host opened last; even
	arrived *sync.Cond // ready has more, or over
	ready   []*share   // streams that can be accepted, in this order; at most maxKnown
	over    bool       // no more streams become ready
}

// share is one stream's part of the unread bytes.
type share struct {
	id       uint32
	stream   *yamux.Stream // nil until yamux has handed it over
	bytes    int
	overhead int  // memory that they take beside their size
	spoken   bool // something was received on it, or its end
	ready    bool // it can be accepted, or was
}

// ours reports whether the host has opened the stream.
func (s *share) ours() bool { return s.id%2 == 0 }

func newIntake(c net.Conn) *intake {
	in := &intake{Conn: c, known: map[uint32]*share{}}
	in.changed, in.arrived = sync.NewCond(&in.mu), sync.NewCond(&in.mu)
	return in
}

// Close makes Read return. No stream is reset afterwards.
func (in *intake) Close() error {
	in.mu.Lock()
	in.count(-in.unread)
	in.closed = true
	in.changed.Broadcast()
	in.mu.Unlock()
	return in.Conn.Close()
}

// Read waits while too much is unread.
func (in *intake) Read(p []byte) (int, error) {
	if err := in.wait(); err != nil {
		return 0, err
	}
	n, err := in.Conn.Read(p)
	if wrong := in.parse(p[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// wait returns when fewer bytes are unread than the limit. If nobody reads in time, it resets the
// stream with the most unread bytes, so that one stuck reader does not block the others for good.
func (in *intake) wait() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.unread > maxUnread && !in.closed {
		late := false
		alarm := time.AfterFunc(readWithin, func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			late = true
			in.changed.Broadcast()
		})
		for in.unread > maxUnread && !in.closed && !late {
			in.changed.Wait()
		}
		alarm.Stop()
		if late && !in.closed {
			in.resetLargest()
		}
	}
	if in.closed {
		return net.ErrClosed
	}
	return nil
}

// resetLargest resets the stream with the most unread bytes. The lock is held.
func (in *intake) resetLargest() {
	var greedy *share
	for _, s := range in.known {
		if s.stream != nil && (greedy == nil || s.bytes+s.overhead > greedy.bytes+greedy.overhead) {
			greedy = s
		}
	}
	if greedy == nil {
		return // yamux will hand the streams over soon, or the session ends
	}
	in.remove(greedy)
	in.resets.Go(func() { _ = greedy.stream.Reset() })
}

// parse parses received bytes.
func (in *intake) parse(p []byte) error {
	for len(p) > 0 {
		if in.left > 0 {
			n := min(in.left, len(p))
			in.left -= n
			p = p[n:]
			continue
		}
		n := copy(in.head[in.have:], p)
		in.have += n
		p = p[n:]
		if in.have == headSize {
			in.have = 0
			if err := in.message(); err != nil {
				return err
			}
		}
	}
	return nil
}

// message handles a message whose head is complete. It checks only what it needs; yamux checks the
// rest.
func (in *intake) message() error {
	kind := in.head[offsetType]
	if kind > typeWindow {
		return nil // not of a stream
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	flags, id := binary.BigEndian.Uint16(in.head[offsetFlags:]), binary.BigEndian.Uint32(in.head[offsetID:])
	if id%2 == 0 && id > in.last {
		return errEarly
	}
	if flags&flagOpen != 0 {
		if in.known[id] != nil {
			return errAgain
		}
		if len(in.known) >= maxKnown {
			return errMany
		}
		in.known[id] = &share{id: id}
	}
	s, size := in.known[id], uint32(0)
	if kind == typeData {
		size = binary.BigEndian.Uint32(in.head[offsetSize:])
	}
	if size > maxMessage {
		return fmt.Errorf("%w: %d bytes", errLong, size)
	}
	in.left = int(size)
	if s == nil {
		return nil
	}
	if size > 0 {
		kept := 1<<bits.Len32(size-1) + perMessage // yamux's buffers have sizes that are powers of two
		s.bytes += int(size)
		s.overhead += kept - int(size)
		in.count(kept)
	}
	if size > 0 || flags&flagEnd != 0 {
		s.spoken = true
		in.offer(s)
	}
	return nil
}

// offer makes a stream of the container ready to be accepted, once yamux has handed it over and
// something was received on it. The lock is held.
func (in *intake) offer(s *share) {
	if s.spoken && s.stream != nil && !s.ready && !s.ours() {
		s.ready = true
		in.ready = append(in.ready, s)
		in.arrived.Signal()
	}
}

// accepted notes that yamux has handed over a stream of the container.
func (in *intake) accepted(y *yamux.Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.known[y.StreamID()]
	s.stream = y
	in.offer(s)
}

// open returns the share of the stream that the host opens next.
func (in *intake) open() (*share, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.known) >= maxKnown {
		return nil, errMany
	}
	in.last += 2
	s := &share{id: in.last}
	in.known[s.id] = s
	return s, nil
}

// opened notes that yamux has opened a stream.
func (in *intake) opened(s *share, y *yamux.Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.stream = y
}

// next waits for a stream that can be accepted. It returns nil when the session has ended.
func (in *intake) next() *share {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.ready) == 0 && !in.over {
		in.arrived.Wait()
	}
	if in.over {
		return nil
	}
	s := in.ready[0]
	in.ready = in.ready[1:]
	return s
}

// noMore makes next return nil.
func (in *intake) noMore() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.over = true
	in.arrived.Broadcast()
}

// wasRead notes that n bytes of a stream were read.
func (in *intake) wasRead(s *share, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if n == 0 || in.known[s.id] != s {
		return
	}
	cost := s.overhead * n / s.bytes // the average overhead of n bytes
	s.bytes -= n
	s.overhead -= cost
	in.freed(n + cost)
}

// wasClosed notes that the host has closed a stream.
func (in *intake) wasClosed(s *share) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.known[s.id] == s {
		in.remove(s)
	}
}

// remove forgets a stream. The lock is held.
func (in *intake) remove(s *share) {
	delete(in.known, s.id)
	in.freed(s.bytes + s.overhead)
}

// freed notes that n fewer bytes are unread. The lock is held.
func (in *intake) freed(n int) {
	if was := in.unread; was > maxUnread && was-n <= maxUnread {
		in.changed.Broadcast()
	}
	in.count(-n)
}

// count notes that n more bytes are unread, unless the intake is closed. The lock is held.
func (in *intake) count(n int) {
	if !in.closed {
		in.unread += n
		pressure.Add(int64(n))
	}
}
