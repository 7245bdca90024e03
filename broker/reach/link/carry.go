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

// carrier is one connection that a link uses. The link's lock guards what may change.
type carrier struct {
	link  *Link
	conn  io.ReadWriteCloser
	hello []byte        // of this end
	ended chan struct{} // closed when it is no longer used
	soon  *time.Timer   // fires when acknowledgements have waited long enough

	work    *sync.Cond // there may be something to send, or it has ended
	over    error      // why it has ended; nil while it is used
	greeted bool       // both hellos were exchanged
	waiting bool       // soon is set
	heard   time.Time  // when bytes were last received
	ticked  time.Time  // when tick was last called, by the wall clock

	beat    uint64    // number of the last beat
	sent    time.Time // when it was sent; zero once it is answered
	beating bool      // it must be sent
	back    uint64    // number of the other end's last beat
	backing bool      // it must be answered
}

// Carry uses c as the carrier until it breaks, is replaced by a newer one, or the link is closed.
// It always closes c, and that must make pending reads and writes return. theirs is the other end's
// hello if the caller has read it already, as the container has; else Carry reads it.
func (l *Link) Carry(ctx context.Context, c io.ReadWriteCloser, theirs *Hello) error {
	k, err := l.attach(c, theirs)
	if err != nil {
		c.Close()
		return fmt.Errorf("carry link: %w", err)
	}
	var both sync.WaitGroup
	both.Go(k.write)
	both.Go(k.read)
	k.watch(ctx)
	c.Close()
	both.Wait()
	return fmt.Errorf("carry link: %w", k.over)
}

// attach makes c the carrier in use.
func (l *Link) attach(c io.ReadWriteCloser, theirs *Hello) (*carrier, error) {
	k := &carrier{link: l, conn: c, ended: make(chan struct{}), soon: time.NewTimer(ackSoon), heard: time.Now()}
	k.soon.Stop()
	k.work = sync.NewCond(&l.mu)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, net.ErrClosed
	}
	if theirs != nil {
		if err := l.judge(l.fits(*theirs)); err != nil {
			return nil, err
		}
	}
	if l.carrier != nil {
		l.carrier.halt(ErrReplaced)
	}
	ours := Hello{Version: Version, ID: l.id}
	for i, a := range l.lanes {
		ours.Received[i] = a.received
	}
	k.hello = ours.encode()
	if theirs != nil {
		k.greet(*theirs)
	}
	l.carrier = k
	return k, nil
}

// fits returns an error unless a hello fits this link. The lock is held.
func (l *Link) fits(theirs Hello) error {
	if theirs.Version != Version {
		return errVersion
	}
	if theirs.ID != l.id {
		return errOther
	}
	for i, a := range l.lanes {
		if err := a.resumable(theirs.Received[i]); err != nil {
			return err
		}
	}
	return nil
}

// greet continues where the other end's hello says. The lock is held.
func (k *carrier) greet(theirs Hello) {
	for i, a := range k.link.lanes {
		a.resume(theirs.Received[i])
	}
	k.greeted = true
	k.requestBeat()
	k.work.Signal()
}

// judge counts an error if it is a wrong count of the other end's, and ends the link after too
// many. The lock is held.
func (l *Link) judge(err error) error {
	if errors.Is(err, errOffset) && l.countWrong(time.Now()) {
		l.end(true)
		return fmt.Errorf("%w: %w", ErrHostile, err)
	}
	return err
}

// halt stops using the carrier. The lock is held.
func (k *carrier) halt(why error) {
	if k.over != nil {
		return
	}
	k.over = why
	if k.link.carrier == k {
		k.link.carrier = nil
	}
	close(k.ended)
	k.work.Signal()
}

// stop is halt without the lock.
func (k *carrier) stop(why error) {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	k.halt(why)
}

// watch runs the carrier's timers, stops it after too long a silence, and returns when it has ended.
func (k *carrier) watch(ctx context.Context) {
	beats := time.NewTicker(beatEvery)
	defer beats.Stop()
	silence := time.NewTimer(deadAfter)
	defer silence.Stop()
	defer k.soon.Stop()
	for {
		select {
		case <-k.ended:
			return
		case <-ctx.Done():
			k.stop(ctx.Err())
		case <-beats.C:
			k.tick()
		case <-k.soon.C:
			k.acknowledge()
		case <-silence.C:
			k.link.mu.Lock()
			rest := deadAfter - time.Since(k.heard)
			if rest <= 0 {
				k.halt(ErrSilent)
			}
			k.link.mu.Unlock()
			silence.Reset(max(rest, 0))
		}
	}
}

// tick requests a beat and frees unused memory. Timers do not count the time that a machine sleeps,
// so tick compares the wall clock and stops a carrier that the other end must have given up by now.
func (k *carrier) tick() {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	now := time.Now().Round(0) // drops the monotonic clock
	if !k.ticked.IsZero() && now.Sub(k.ticked) >= deadAfter {
		k.halt(ErrSilent)
		return
	}
	k.ticked = now
	for _, a := range k.link.lanes {
		a.in.shrink()
		a.out.shrink()
	}
	if k.greeted {
		k.requestBeat()
		k.work.Signal()
	}
}

// requestBeat lets a beat be sent, unless one is due already. The lock is held.
func (k *carrier) requestBeat() {
	if !k.beating {
		k.beat++
		k.beating = true
	}
}

// acknowledge lets all that was received be acknowledged now.
func (k *carrier) acknowledge() {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	k.waiting = false
	for _, a := range k.link.lanes {
		if a.told != a.received {
			a.tell = true
		}
	}
	k.work.Signal()
}

// write sends frames until the carrier ends.
func (k *carrier) write() {
	if _, err := k.conn.Write(k.hello); err != nil {
		k.stop(err)
		return
	}
	l := k.link
	buf := make([]byte, 0, lanes*(2*headSize+maxData)+2*headSize)
	for {
		l.mu.Lock()
		for k.over == nil {
			if buf = k.compose(buf[:0]); len(buf) > 0 {
				break
			}
			if l.closed {
				k.halt(net.ErrClosed)
				break
			}
			k.work.Wait()
		}
		over, last := k.over != nil, l.closed
		l.mu.Unlock()
		if over {
			return
		}
		if _, err := k.conn.Write(buf); err != nil {
			k.stop(err)
			return
		}
		if last {
			k.awaitClose()
			return
		}
	}
}

// awaitClose waits until the other end, which was sent the end of the link, closes the carrier. If
// this end closed it first, a write of the other end could fail before it has read the end.
func (k *carrier) awaitClose() {
	patience := time.NewTimer(endWithin)
	defer patience.Stop()
	select {
	case <-k.ended:
	case <-patience.C:
		k.stop(net.ErrClosed)
	}
}

// compose appends what is sent next to b: at most one data frame of each lane, so that a key waits
// for at most one frame of bulk. The lock is held.
func (k *carrier) compose(b []byte) []byte {
	l := k.link
	if !k.greeted {
		return b
	}
	if l.closed {
		return head{kind: frameEnd}.append(b)
	}
	now := time.Now()
	if k.backing {
		k.backing = false
		b = head{kind: frameBack, offset: k.back}.append(b)
	}
	if k.beating {
		k.beating, k.sent = false, now
		b = head{kind: frameBeat, offset: k.beat}.append(b)
	}
	along := l.lanes[typed].sendable()+l.lanes[bulk].sendable() > 0
	for _, a := range l.lanes {
		b = a.appendAck(b, along)
	}
	for _, a := range l.lanes {
		b = a.appendData(b, now)
	}
	return b
}
