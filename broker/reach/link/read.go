package link

import (
	"bufio"
	"fmt"
	"time"
)

// read takes what comes until the carrier ends.
func (k *carrier) read() {
	r := bufio.NewReaderSize(k.conn, 4*mostData)
	var err error
	if !k.greeted { // only this goroutine changes it from here on
		err = k.readHello(r)
	}
	for err == nil {
		err = k.readFrame(r)
	}
	k.stop(err)
}

// mostSaid is how much is quoted of what came in a hello's place. An engine says there why it
// could not run the command.
const mostSaid = 200

// readHello reads the other end's hello.
func (k *carrier) readHello(r *bufio.Reader) error {
	if b, err := r.Peek(len(magic)); err == nil && string(b) != magic {
		said, _ := r.Peek(min(r.Buffered(), mostSaid))
		return fmt.Errorf("read hello: %w: %q", errNoHello, said)
	}
	theirs, err := ReadHello(r)
	if err != nil {
		return err
	}
	l := k.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.over != nil {
		return k.over
	}
	if err := l.blame(l.fits(theirs)); err != nil {
		k.halt(err)
		return err
	}
	k.came(time.Now())
	k.greet(theirs)
	return nil
}

// readFrame reads one frame and does what it says.
func (k *carrier) readFrame(r *bufio.Reader) error {
	b, err := r.Peek(headSize)
	if err != nil {
		return err
	}
	h, err := parseHead(b)
	if err != nil {
		return err
	}
	n := h.carried()
	if b, err = r.Peek(headSize + n); err != nil {
		return err
	}
	if err := k.accept(h, b[headSize:]); err != nil {
		return err
	}
	_, err = r.Discard(headSize + n)
	return err
}

// accept does what a frame says, unless the carrier has ended.
func (k *carrier) accept(h head, data []byte) error {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	if k.over != nil {
		return k.over
	}
	err := k.link.blame(k.take(h, data))
	if err != nil {
		k.halt(err)
	}
	return err
}

// came notes that bytes have come. The lock is held.
func (k *carrier) came(now time.Time) { k.heard, k.link.heard = now, now }

// take does what a frame says. The lock is held.
func (k *carrier) take(h head, data []byte) error {
	l, now := k.link, time.Now()
	k.came(now)
	switch h.kind {
	case frameData:
		a := l.lanes[h.lane]
		if err := a.arrived(h.offset, data); err != nil {
			return err
		}
		if a.tell {
			k.work.Signal()
		} else if !k.waiting {
			k.waiting = true
			k.soon.Reset(ackSoon)
		}
	case frameAck:
		a := l.lanes[h.lane]
		if err := a.acknowledged(h.offset, h.length); err != nil {
			return err
		}
		if a.flight != nil {
			k.trip(a.flight.acked(h.offset, now), now)
		}
		if a.sendable() > 0 {
			k.work.Signal()
		}
	case frameBeat:
		k.back, k.backing = h.offset, true
		k.work.Signal()
	case frameBack:
		if h.offset == k.beat && !k.sent.IsZero() {
			took := max(now.Sub(k.sent), 1)
			l.lanes[bulk].flight.fastest(took)
			k.trip(took, now)
			k.sent = time.Time{}
		}
	case frameEnd:
		l.end(false)
		return ErrEnded
	}
	return nil
}

// trip notes how long a round trip took; 0 is none.
func (k *carrier) trip(took time.Duration, now time.Time) {
	if took > 0 {
		k.link.trips.add(took, now)
	}
}
