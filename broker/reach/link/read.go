package link

import (
	"bufio"
	"fmt"
	"time"
)

// read handles what is received until the carrier ends.
func (k *carrier) read() {
	r := bufio.NewReaderSize(k.conn, 4*maxData)
	var err error
	if !k.greeted { // from here on only this goroutine changes it
		err = k.readHello(r)
	}
	for err == nil {
		err = k.readFrame(r)
	}
	k.stop(err)
}

// maxSaid is how many bytes are quoted of what was received in place of a hello: an engine says
// there why it could not run the command.
const maxSaid = 200

// readHello reads the other end's hello.
func (k *carrier) readHello(r *bufio.Reader) error {
	if b, err := r.Peek(len(magic)); err == nil && string(b) != magic {
		said, _ := r.Peek(min(r.Buffered(), maxSaid))
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
	if err := l.judge(l.fits(theirs)); err != nil {
		k.halt(err)
		return err
	}
	k.noteReceived(time.Now())
	k.greet(theirs)
	return nil
}

// readFrame reads and handles one frame.
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

// accept handles a frame, unless the carrier has ended.
func (k *carrier) accept(h head, data []byte) error {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	if k.over != nil {
		return k.over
	}
	err := k.link.judge(k.handle(h, data))
	if err != nil {
		k.halt(err)
	}
	return err
}

// noteReceived notes that bytes were received. The lock is held.
func (k *carrier) noteReceived(now time.Time) { k.heard, k.link.heard = now, now }

// handle handles a frame. The lock is held.
func (k *carrier) handle(h head, data []byte) error {
	l, now := k.link, time.Now()
	k.noteReceived(now)
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
			l.lanes[bulk].flight.noteRTT(took)
			k.trip(took, now)
			k.sent = time.Time{}
		}
	case frameEnd:
		l.end(false)
		return ErrEnded
	}
	return nil
}

// trip notes how long a round trip took; 0 means none has ended.
func (k *carrier) trip(took time.Duration, now time.Time) {
	if took > 0 {
		k.link.trips.add(took, now)
	}
}
