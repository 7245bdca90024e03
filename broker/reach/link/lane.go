package link

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	typedWindow = 256 << 10
	bulkWindow  = maxFlight
	// ahead is how many bytes of bulk Write takes beyond those that may be in flight.
	ahead = 64 << 10
	// ackAt is the number of received bytes that is acknowledged at once. Fewer wait for ackSoon, so
	// that an answer can carry the acknowledgement.
	ackAt   = 32 << 10
	ackSoon = 10 * time.Millisecond
)

// lane is one end of one byte stream of a link. The link's lock guards it.
type lane struct {
	link   *Link
	index  byte
	window int // how many unread bytes the receiver buffers

	// Sending. Offsets count from the beginning of the lane.
	writing  sync.Mutex // held by Write, before the link's lock: keeps what one call writes together
	out      ring       // what is not acknowledged, from acked on
	acked    uint64     // what the other end has received
	read     uint64     // what was read at the other end
	next     uint64     // the first byte that was not sent on this carrier
	top      uint64     // the first byte that was not sent on any carrier
	flight   *flight    // nil for typed
	writable *sync.Cond // room in out, or the end, or all is acknowledged

	// Receiving.
	in       ring       // what is unread
	received uint64     // what was received
	told     uint64     // received, in the last acknowledgement
	toldRead uint64     // what was read, in the last acknowledgement
	tell     bool       // an acknowledgement is due
	readable *sync.Cond // bytes in in, or the end
}

func (l *Link) newLane(index byte) *lane {
	a := &lane{link: l, index: index, window: typedWindow, writable: sync.NewCond(&l.mu), readable: sync.NewCond(&l.mu)}
	a.out.most = typedWindow
	if index == bulk {
		f := newFlight()
		a.flight, a.window, a.out.most = &f, bulkWindow, maxFlight+ahead
	}
	a.in.most = a.window
	return a
}

// Write returns when the lane has buffered all of p, before it is received. It does not mix what
// concurrent calls write.
func (a *lane) Write(p []byte) (int, error) {
	l := a.link
	a.writing.Lock()
	defer a.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for done := 0; ; {
		room := a.room()
		for room <= 0 && !l.closed {
			a.writable.Wait()
			room = a.room()
		}
		if l.closed {
			return done, net.ErrClosed
		}
		n := min(len(p)-done, room)
		a.out.push(p[done : done+n])
		done += n
		l.wake()
		if done == len(p) {
			return done, nil
		}
	}
}

// room is how many bytes Write may take.
func (a *lane) room() int {
	if a.flight != nil {
		return a.flight.size + ahead - a.out.size
	}
	return a.out.most - a.out.size
}

// Read waits for bytes. It returns io.EOF once the other end has closed the link and all that was
// received was read.
func (a *lane) Read(p []byte) (int, error) {
	l := a.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for a.in.size == 0 && !l.closed && len(p) > 0 {
		a.readable.Wait()
	}
	if l.closedHere {
		return 0, net.ErrClosed
	}
	if l.closed && a.in.size == 0 {
		return 0, io.EOF
	}
	n := min(len(p), a.in.size)
	a.in.peek(p[:n], 0)
	a.in.drop(n)
	if a.received-uint64(a.in.size)-a.toldRead >= uint64(a.window/4) {
		a.tell = true
		l.wake()
	}
	return n, nil
}

// end is the offset after the last byte that was written.
func (a *lane) end() uint64 { return a.acked + uint64(a.out.size) }

// sendable is how many bytes may be sent now.
func (a *lane) sendable() int {
	if a.next == a.end() {
		return 0
	}
	limit := min(a.end(), a.read+uint64(a.window))
	if a.flight != nil {
		if most := a.acked + uint64(a.flight.size); most < limit {
			limit = most
			if a.next >= most {
				a.flight.limited = true
			}
		}
	}
	if limit <= a.next {
		return 0
	}
	return int(min(limit-a.next, maxData))
}

// appendAck adds an acknowledgement to b if one is due, or if along says that other bytes are sent
// anyway and there is something to acknowledge.
func (a *lane) appendAck(b []byte, along bool) []byte {
	if !a.tell && !(along && a.told != a.received) {
		return b
	}
	a.tell, a.told, a.toldRead = false, a.received, a.received-uint64(a.in.size)
	return head{kind: frameAck, lane: a.index, offset: a.received, length: uint32(a.in.size)}.append(b)
}

// appendData adds the lane's next data frame to b, if there is one.
func (a *lane) appendData(b []byte, now time.Time) []byte {
	n := a.sendable()
	if n == 0 {
		return b
	}
	b = head{kind: frameData, lane: a.index, offset: a.next, length: uint32(n)}.append(b)
	from := len(b)
	b = slices.Grow(b, n)[:from+n]
	a.out.peek(b[from:], int(a.next-a.acked))
	a.next += uint64(n)
	a.top = max(a.top, a.next)
	if a.flight != nil {
		a.flight.sent(a.next, now)
	}
	return b
}

// arrived takes received bytes.
func (a *lane) arrived(offset uint64, data []byte) error {
	if offset != a.received {
		return fmt.Errorf("%w: received offset %d, expected %d", errOffset, offset, a.received)
	}
	if len(data) > a.window-a.in.size {
		return fmt.Errorf("%w: received %d bytes, with room for %d", errOffset, len(data), a.window-a.in.size)
	}
	a.in.push(data)
	a.received += uint64(len(data))
	if a.received-a.told >= ackAt {
		a.tell = true
	}
	a.readable.Signal()
	return nil
}

// acknowledged takes an acknowledgement: how many bytes the other end has received, and how many
// of them are unread.
func (a *lane) acknowledged(offset uint64, unread uint32) error {
	if offset < a.acked || offset > a.top {
		return fmt.Errorf("%w: %d bytes were acknowledged, not %d to %d", errOffset, offset, a.acked, a.top)
	}
	read := offset - uint64(unread)
	if int(unread) > a.window || read < a.read {
		return fmt.Errorf("%w: %d unread bytes of %d were reported", errOffset, unread, offset)
	}
	a.out.drop(int(offset - a.acked))
	a.acked, a.read = offset, read
	a.next = max(a.next, offset)
	a.writable.Broadcast()
	return nil
}

// resumable returns an error unless the other end can have received the given number of bytes. If
// it names fewer than it has acknowledged, that is not counted as wrong: its hello was overtaken by
// that of a newer carrier.
func (a *lane) resumable(received uint64) error {
	if received < a.acked {
		return fmt.Errorf("%w: %d were received, and %d have been acknowledged", errLate, received, a.acked)
	}
	if received > a.top {
		return fmt.Errorf("%w: %d were received, and %d were sent", errOffset, received, a.top)
	}
	return nil
}

// resume continues on a new carrier, whose other end has received the given number of bytes.
func (a *lane) resume(received uint64) {
	a.out.drop(int(received - a.acked))
	a.acked, a.next, a.tell = received, received, true
	if a.flight != nil {
		a.flight.restart()
	}
	a.writable.Broadcast()
}
