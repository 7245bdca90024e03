package bridge

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

const (
	helloWait = 10 * time.Second // for what a carrier says first
	partWait  = time.Second      // for a host to take the hello for a link that has ended here
)

// links are the newest link to the host and what carries it. Others are closed.
type links struct {
	ctx  context.Context    // ends everything
	wait time.Duration      // until the host counts as away
	left func(away bool)    // told when that changes
	talk func(*link.Link)   // serves the typed lane
	take func(*mux.Session) // serves the streams that the host opens
	use  sync.WaitGroup     // goroutines of links and carriers

	mu      sync.Mutex
	link    *link.Link // nil before the first one
	session *mux.Session
	present int             // carriers
	changed chan struct{}   // closed at the next change of the above
	away    *time.Timer     // runs while no carrier is present
	patient context.Context // ends when the host is away for long
	give    context.CancelFunc
}

func (s *links) init(ctx context.Context, wait time.Duration, left func(bool), talk func(*link.Link), take func(*mux.Session)) {
	s.ctx, s.wait, s.left, s.talk, s.take = ctx, wait, left, talk, take
	s.changed = make(chan struct{})
	s.patient, s.give = context.WithCancel(ctx)
	s.away = time.AfterFunc(wait, s.gone)
}

// change tells everybody who looks. The lock is held.
func (s *links) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// look returns whether a carrier is present, and what is closed when something changes.
func (s *links) look() (changed <-chan struct{}, present bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.present > 0
}

// gone is called when no carrier was present for long.
func (s *links) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present == 0 {
		s.give()
		s.patient, s.give = context.WithCancel(s.ctx)
		s.left(true)
	}
}

// carry uses a carrier until it ends.
func (s *links) carry(c io.ReadWriteCloser) {
	hello, err := readHello(c)
	if err != nil {
		_ = c.Close()
		return
	}
	l := s.linkOf(hello)
	if l == nil {
		s.refuse(c, hello)
		return
	}
	s.arrive()
	defer s.depart()
	_ = l.Carry(s.ctx, c, &hello) // the host brings another one
}

// readHello reads the first that comes, within a bounded time.
func readHello(c io.ReadWriteCloser) (link.Hello, error) {
	limit := time.AfterFunc(helloWait, func() { _ = c.Close() })
	defer limit.Stop()
	return link.ReadHello(c)
}

func (s *links) arrive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present++
	s.away.Stop()
	s.left(false)
	s.change()
}

func (s *links) depart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present--; s.present == 0 {
		s.away.Reset(s.wait)
	}
	s.change()
}

// linkOf returns the link that a hello names. One that is not known yet replaces the one
// that is. It returns nil for a link that has ended here, or was another's.
func (s *links) linkOf(hello link.Hello) *link.Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil
	}
	if s.link != nil && s.link.ID() == hello.ID {
		if isClosed(s.link.Done()) {
			return nil
		}
		return s.link
	}
	if hello.Received != [2]uint64{} {
		return nil
	}
	l := link.New(hello.ID)
	session, err := mux.Inside(l.Bulk())
	if err != nil {
		_ = l.Close()
		return nil
	}
	old := s.link
	s.link, s.session = l, session
	s.use.Go(func() {
		if old != nil {
			_ = old.Close()
		}
	})
	s.use.Go(func() {
		s.talk(l)
		_ = session.Close()
	})
	s.use.Go(func() { s.take(session) })
	s.change()
	return l
}

// refuse tells the host that its link has ended here.
func (s *links) refuse(c io.ReadWriteCloser, hello link.Hello) {
	hello.Received = [2]uint64{}
	l := link.New(hello.ID)
	tell := time.AfterFunc(partWait, func() { _ = l.Close() })
	defer tell.Stop()
	_ = l.Carry(s.ctx, c, &hello)
	_ = l.Close()
}

// open opens a stream of a kind as soon as there is a link and something that carries it.
func (s *links) open(ctx context.Context, kind mux.Kind) (mux.Stream, error) {
	for {
		s.mu.Lock()
		l, session, present, changed := s.link, s.session, s.present > 0, s.changed
		s.mu.Unlock()
		if l != nil && present && !isClosed(l.Done()) {
			stream, err := session.Open(ctx, kind)
			if err == nil {
				return stream, nil
			}
			if ctx.Err() == nil {
				_ = l.Close() // its session is of no use any more
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// lasting returns a context that ends when the host has been away for long.
func (s *links) lasting() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.patient
}

// close ends the newest link, and waits for all of them.
func (s *links) close() {
	s.mu.Lock()
	s.away.Stop()
	l := s.link
	s.give()
	s.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
	s.use.Wait()
}
