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
	hello []byte        // ours
	ended chan struct{} // closed when it is no longer used
	soon  *time.Timer   // fires when acknowledgements have waited long enough

	work    *sync.Cond // there may be something to send, or it has ended
	over    error      // why it has ended; nil while it is used
	greeted bool       // both hellos were exchanged
	waiting bool       // soon is set
	heard   time.Time
	ticked  time.Time // when tick was last called, by the calendar

	beat    uint64 // number of the last beat
	sent    time.Time
	beating bool // it has to be sent
	back    uint64
	backing bool // the other end's beat has to be answered
}

// Carry uses c until it breaks, is replaced by a newer carrier, or the link is closed. It
// always closes c, which must make a read and a write that are under way return. The host passes no
// hello: Carry writes ours and reads the other one. The container has read it already, and
// passes it.
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
		if err := l.blame(l.fits(*theirs)); err != nil {
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

// fits reports whether a hello can be the other end's. The lock is held.
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

// greet takes the other end's hello, which fits. The lock is held.
func (k *carrier) greet(theirs Hello) {
	for i, a := range k.link.lanes {
		a.resume(theirs.Received[i])
	}
	k.greeted = true
	k.pulse()
	k.work.Signal()
}

// blame counts an error that says that the other end's count was wrong, and ends the link
// when there were too many. The lock is held.
func (l *Link) blame(err error) error {
	if errors.Is(err, errOffset) && l.strike(time.Now()) {
		l.end(true)
		return fmt.Errorf("%w: %w", ErrHostile, err)
	}
	return err
}

// halt ends the use of the carrier. The lock is held.
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

// stop ends the use of the carrier.
func (k *carrier) stop(why error) {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	k.halt(why)
}

// watch returns when the carrier has ended, and ends it when nothing comes any more.
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

// tick lets a beat be sent, and gives memory back that nobody needs. A machine that slept does not
// count that time in its timers, and the other end has long given the carrier up.
func (k *carrier) tick() {
	k.link.mu.Lock()
	defer k.link.mu.Unlock()
	now := time.Now().Round(0) // without the reading of the timers' clock
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
		k.pulse()
		k.work.Signal()
	}
}

// pulse makes a beat due, unless one is. The lock is held.
func (k *carrier) pulse() {
	if !k.beating {
		k.beat++
		k.beating = true
	}
}

// acknowledge lets what came be acknowledged now.
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

// write sends what there is to send until the carrier ends.
func (k *carrier) write() {
	if _, err := k.conn.Write(k.hello); err != nil {
		k.stop(err)
		return
	}
	l := k.link
	buf := make([]byte, 0, lanes*(2*headSize+mostData)+2*headSize)
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
			k.untilTold()
			return
		}
	}
}

// untilTold waits until the other end, which was told that the link is closed, has closed the
// carrier. If ours were closed before, a write of the other end could fail and hide what it was told.
func (k *carrier) untilTold() {
	patience := time.NewTimer(endWithin)
	defer patience.Stop()
	select {
	case <-k.ended:
	case <-patience.C:
		k.stop(net.ErrClosed)
	}
}

// compose adds to b what is sent next: at most one frame of each lane, so that a key waits
// for one frame of bulk at most. The lock is held.
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
