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
)

// The parts of a message's head that the intake looks at.
const (
	headSize   = 12
	typeData   = 0
	flagOpens  = 1
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
}

// share is one stream's part of what nobody has read.
type share struct {
	id       uint32
	stream   *yamux.Stream // nil until it was accepted
	bytes    int
	overhead int // what keeping them costs beside them
}

func newIntake(c net.Conn) *intake {
	in := &intake{Conn: c, known: map[uint32]*share{}}
	in.changed = sync.NewCond(&in.mu)
	return in
}

// Close lets Read return. No stream is reset after it.
func (in *intake) Close() error {
	in.mu.Lock()
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
	in.mu.Lock()
	defer in.mu.Unlock()
	id := binary.BigEndian.Uint32(in.head[placeID:])
	if binary.BigEndian.Uint16(in.head[placeFlags:])&flagOpens != 0 && in.head[placeType] <= typeData+1 {
		if in.known[id] != nil {
			return errAgain
		}
		if len(in.known) == mostKnown {
			return errMany
		}
		in.known[id] = &share{id: id}
	}
	if in.head[placeType] != typeData {
		return nil
	}
	size := binary.BigEndian.Uint32(in.head[placeSize:])
	if size > mostMessage {
		return fmt.Errorf("%w: %d bytes", errLong, size)
	}
	in.left = int(size)
	if s := in.known[id]; s != nil && size > 0 {
		kept := 1<<bits.Len32(size-1) + perMessage // yamux's buffers have sizes that are powers of two
		s.bytes += int(size)
		s.overhead += kept - int(size)
		in.unread += kept
	}
	return nil
}

// accepted returns the share of a stream that was accepted.
func (in *intake) accepted(y *yamux.Stream) *share {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.known[y.StreamID()]
	s.stream = y
	return s
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
	in.unread -= n
}
