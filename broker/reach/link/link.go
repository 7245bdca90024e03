package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// errOffset means that a number of bytes that the other end named is impossible.
var errOffset = errors.New("the other end's count is wrong")

// Reasons why Carry returns.
var (
	// ErrReplaced is returned by Carry when another carrier has taken over.
	ErrReplaced = errors.New("a newer carrier has taken over")
	// ErrSilent is returned by Carry when nothing was received for too long.
	ErrSilent = errors.New("nothing was received for too long")
	// ErrEnded is returned by Carry when the other end has closed the link.
	ErrEnded = errors.New("the other end has closed the link")
	// ErrHostile is returned by Carry when the link was closed because the other end's counts
	// were wrong again and again.
	ErrHostile = errors.New("the other end violates the protocol")
)

const (
	beatEvery   = 5 * time.Second
	deadAfter   = 15 * time.Second
	endWithin   = time.Second // how long Close waits until the other end knows
	maxWrong    = 3           // wrong counts within wrongWithin end the link
	wrongWithin = time.Minute
)

// Link is one end of two byte streams that outlive their carriers.
type Link struct {
	id ID

	mu         sync.Mutex
	lanes      [lanes]*lane
	carrier    *carrier // in use, or nil
	closed     bool
	closedHere bool // and not by the other end
	done       chan struct{}
	wrong      []time.Time // when counts were wrong within the last minute
	trips      recentMin
	heard      time.Time
	mark       uint64 // see Mark
}

// New makes one end of a link.
func New(id ID) *Link {
	l := &Link{id: id, done: make(chan struct{})}
	for i := range l.lanes {
		l.lanes[i] = l.newLane(byte(i))
	}
	return l
}

// ID identifies the link at both ends.
func (l *Link) ID() ID { return l.id }

// Typed is the lane for the agent's terminal. Closing it closes the link.
func (l *Link) Typed() io.ReadWriteCloser { return conn{l.lanes[typed]} }

// Bulk is the lane for everything else. Closing it closes the link; its deadlines are
// ignored.
func (l *Link) Bulk() net.Conn { return conn{l.lanes[bulk]} }

// Done is closed when the link has ended.
func (l *Link) Done() <-chan struct{} { return l.done }

// RTT is the shortest round trip of the last 30 to 60 seconds. 0 is unknown.
func (l *Link) RTT() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trips.min()
}

// Carried is when bytes were last received. It is zero before any.
func (l *Link) Carried() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard
}

// Drain waits until the other end has received all that was written to Typed before.
func (l *Link) Drain(ctx context.Context) error {
	a := l.lanes[typed]
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		a.writable.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for all := a.end(); a.acked < all; {
		if l.closed {
			return fmt.Errorf("drain link: %w", net.ErrClosed)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("drain link: %w", err)
		}
		a.writable.Wait()
	}
	return nil
}

// Mark notes how much has been written to Typed, for Arrived.
func (l *Link) Mark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mark = l.lanes[typed].end()
}

// Arrived reports whether the other end has received all that was written to Typed before Mark.
func (l *Link) Arrived() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes[typed].acked >= l.mark
}

// Close ends the link: reads and writes return at both ends. What was written and not received is
// lost. If there is a carrier, Close waits up to a second until the other end knows.
func (l *Link) Close() error {
	l.mu.Lock()
	l.end(true)
	k := l.carrier
	l.mu.Unlock()
	if k == nil {
		return nil
	}
	patience := time.NewTimer(endWithin)
	defer patience.Stop()
	select {
	case <-k.ended:
	case <-patience.C:
		k.stop(net.ErrClosed)
	}
	return nil
}

// end closes the link; here means that this end has. The lock is held.
func (l *Link) end(here bool) {
	if l.closed {
		return
	}
	l.closed, l.closedHere = true, here
	close(l.done)
	for _, a := range l.lanes {
		a.readable.Broadcast()
		a.writable.Broadcast()
	}
	l.wake()
}

// wake tells the carrier that there may be something to send. The lock is held.
func (l *Link) wake() {
	if l.carrier != nil {
		l.carrier.work.Signal()
	}
}

// countWrong notes that the other end's count was wrong, and reports whether that happened too
// often. The lock is held.
func (l *Link) countWrong(now time.Time) bool {
	recent := l.wrong[:0]
	for _, at := range l.wrong {
		if now.Sub(at) < wrongWithin {
			recent = append(recent, at)
		}
	}
	l.wrong = append(recent, now)
	return len(l.wrong) >= maxWrong
}

// conn is a lane as a connection.
type conn struct{ *lane }

func (c conn) Close() error { return c.link.Close() }

// Deadlines are ignored.
func (conn) SetDeadline(time.Time) error      { return nil }
func (conn) SetReadDeadline(time.Time) error  { return nil }
func (conn) SetWriteDeadline(time.Time) error { return nil }
func (conn) LocalAddr() net.Addr              { return addr{} }
func (conn) RemoteAddr() net.Addr             { return addr{} }

type addr struct{}

func (addr) Network() string { return "link" }
func (addr) String() string  { return "link" }
