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
	// mostUnread is how many bytes of all streams together may wait for their readers. It
	// is what 32 streams hold whose first windows are full.
	mostUnread = 8 << 20
	// perMessage is what keeping one message costs beside its buffer.
	perMessage = 64
	// unreadWithin is how long the session waits for readers when too much waits for them.
	// Then the stream with the most of it is reset.
	unreadWithin = 10 * time.Second
	// mostKnown is how many streams the other end may have opened that were not closed
	// here. Well-behaved ends stay far below it, also when this one closes late.
	mostKnown = 4 * mostStreams
)

// Errors of what the other end sends.
var (
	errLong  = errors.New("a message is too long")
	errAgain = errors.New("a stream was opened twice")
	errMany  = errors.New("far too many streams were opened")
	errEarly = errors.New("something came on a stream that was not opened")
)

// The parts of a message's head that the intake looks at.
const (
	headSize   = 12
	typeData   = 0
	typeWindow = 1
	flagOpens  = 1
	flagEnds   = 4 | 8 // it is closed in one direction, or reset
	placeType  = 1
	placeFlags = 2
	placeID    = 4
	placeSize  = 8
)

// intake is the connection of a session as its reader sees it. It follows the heads of the
// messages that pass, and knows by them how many bytes of each stream nobody has read. The
// window of a stream bounds one stream only; a hostile end opens hundreds.
type intake struct {
	net.Conn

	// Of the message that is passing. Only Read uses these.
	head   [headSize]byte
	have   int // bytes of head
	left   int // bytes of the message behind it
	resets sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // less is unread, or closed
	known   map[uint32]*share
	unread  int
	closed  bool
	last    uint32     // the number of the stream that was last opened here; even
	arrived *sync.Cond // ready has more, or over
	ready   []*share   // that can be accepted, in the order in which they can; at most mostKnown
	over    bool       // none arrives any more
}

// share is one stream's part of what nobody has read.
type share struct {
	id       uint32
	stream   *yamux.Stream // nil until yamux has handed it over
	bytes    int
	overhead int  // what keeping them costs beside them
	spoken   bool // something has come on it, or its end
	ready    bool // it can be accepted, or was
}

// ours reports whether this end has opened the stream.
func (s *share) ours() bool { return s.id%2 == 0 }

func newIntake(c net.Conn) *intake {
	in := &intake{Conn: c, known: map[uint32]*share{}}
	in.changed, in.arrived = sync.NewCond(&in.mu), sync.NewCond(&in.mu)
	return in
}

// Close lets Read return. No stream is reset after it.
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
	if wrong := in.follow(p[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// wait returns when there is room. When nobody makes room in time, it resets the stream with the
// most unread bytes, so that readers that have stopped do not stop the others for good.
func (in *intake) wait() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.unread > mostUnread && !in.closed {
		late := false
		alarm := time.AfterFunc(unreadWithin, func() {
			in.mu.Lock()
			defer in.mu.Unlock()
			late = true
			in.changed.Broadcast()
		})
		for in.unread > mostUnread && !in.closed && !late {
			in.changed.Wait()
		}
		alarm.Stop()
		if late && !in.closed {
			in.relieve()
		}
	}
	if in.closed {
		return net.ErrClosed
	}
	return nil
}

// relieve resets the stream with the most unread bytes. The lock is held.
func (in *intake) relieve() {
	var greedy *share
	for _, s := range in.known {
		if s.stream != nil && (greedy == nil || s.bytes+s.overhead > greedy.bytes+greedy.overhead) {
			greedy = s
		}
	}
	if greedy == nil {
		return // what is unread will be accepted, or the session ends
	}
	in.remove(greedy)
	in.resets.Go(func() { _ = greedy.stream.Reset() })
}

// follow takes note of bytes that pass.
func (in *intake) follow(p []byte) error {
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

// message takes note of a message whose head has passed. What else is wrong with it, yamux
// finds.
func (in *intake) message() error {
	kind := in.head[placeType]
	if kind > typeWindow {
		return nil // it is of no stream
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	flags, id := binary.BigEndian.Uint16(in.head[placeFlags:]), binary.BigEndian.Uint32(in.head[placeID:])
	if id%2 == 0 && id > in.last {
		return errEarly
	}
	if flags&flagOpens != 0 {
		if in.known[id] != nil {
			return errAgain
		}
		if len(in.known) >= mostKnown {
			return errMany
		}
		in.known[id] = &share{id: id}
	}
	s, size := in.known[id], uint32(0)
	if kind == typeData {
		size = binary.BigEndian.Uint32(in.head[placeSize:])
	}
	if size > mostMessage {
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
	if size > 0 || flags&flagEnds != 0 {
		s.spoken = true
		in.offer(s)
	}
	return nil
}

// offer lets a stream of the other end's be accepted, once yamux has it and something has come on
// it. The lock is held.
func (in *intake) offer(s *share) {
	if s.spoken && s.stream != nil && !s.ready && !s.ours() {
		s.ready = true
		in.ready = append(in.ready, s)
		in.arrived.Signal()
	}
}

// accepted notes that yamux has handed over a stream of the other end's.
func (in *intake) accepted(y *yamux.Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.known[y.StreamID()]
	s.stream = y
	in.offer(s)
}

// open returns the share of the stream that is opened here next.
func (in *intake) open() (*share, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.known) >= mostKnown {
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

// next waits for a stream that can be accepted. It returns nil when none arrives any more.
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

// finish says that no stream arrives any more.
func (in *intake) finish() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.over = true
	in.arrived.Broadcast()
}

// took notes that n bytes of a stream were read.
func (in *intake) took(s *share, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if n == 0 || in.known[s.id] != s {
		return
	}
	cost := s.overhead * n / s.bytes // of the messages that were read, as an average
	s.bytes -= n
	s.overhead -= cost
	in.less(n + cost)
}

// gone notes that a stream was closed here.
func (in *intake) gone(s *share) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.known[s.id] == s {
		in.remove(s)
	}
}

// remove forgets a stream. The lock is held.
func (in *intake) remove(s *share) {
	delete(in.known, s.id)
	in.less(s.bytes + s.overhead)
}

// less notes that fewer bytes are unread. The lock is held.
func (in *intake) less(n int) {
	if was := in.unread; was > mostUnread && was-n <= mostUnread {
		in.changed.Broadcast()
	}
	in.count(-n)
}

// count notes how many bytes more are unread. After the end nobody reads any. The lock is held.
func (in *intake) count(n int) {
	if !in.closed {
		in.unread += n
		pressure.Add(int64(n))
	}
}
