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
	helloWait  = 10 * time.Second // for the hello of a carrier
	refuseWait = time.Second      // for the host to learn that its link has ended
)

// links has the newest link to the host and its carriers. Older links are closed.
type links struct {
	ctx          context.Context    // ends everything
	wait         time.Duration      // without a carrier, until the host counts as away
	setAway      func(away bool)    // called when that changes
	talk         func(*link.Link)   // serves the typed lane
	serveStreams func(*mux.Session) // serves the streams that the host opens
	use          sync.WaitGroup     // goroutines of links and carriers

	mu         sync.Mutex
	link       *link.Link // nil before the first one
	session    *mux.Session
	present    int             // number of carriers
	changed    chan struct{}   // closed at the next change of the fields above
	away       *time.Timer     // runs while there is no carrier
	hostCtx    context.Context // ends when the host counts as away
	hostCancel context.CancelFunc
}

func (s *links) init(ctx context.Context, wait time.Duration, setAway func(bool), talk func(*link.Link), serveStreams func(*mux.Session)) {
	s.ctx, s.wait, s.setAway, s.talk, s.serveStreams = ctx, wait, setAway, talk, serveStreams
	s.changed = make(chan struct{})
	s.hostCtx, s.hostCancel = context.WithCancel(ctx)
	s.away = time.AfterFunc(wait, s.hostGone)
}

// change wakes those who wait for a change. The lock is held.
func (s *links) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// state reports whether there is a carrier, and returns a channel that is closed when something
// changes.
func (s *links) state() (changed <-chan struct{}, present bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed, s.present > 0
}

// hostGone is called when there was no carrier for long.
func (s *links) hostGone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present == 0 {
		s.hostCancel()
		s.hostCtx, s.hostCancel = context.WithCancel(s.ctx)
		s.setAway(true)
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
	s.carrierBegan()
	defer s.carrierEnded()
	_ = l.Carry(s.ctx, c, &hello) // after an error the host makes another one
}

// readHello reads a carrier's hello, with a time limit.
func readHello(c io.ReadWriteCloser) (link.Hello, error) {
	limit := time.AfterFunc(helloWait, func() { _ = c.Close() })
	defer limit.Stop()
	return link.ReadHello(c)
}

func (s *links) carrierBegan() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present++
	s.away.Stop()
	s.setAway(false)
	s.change()
}

func (s *links) carrierEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present--; s.present == 0 {
		s.away.Reset(s.wait)
	}
	s.change()
}

// linkOf returns the link that a hello names. A new link replaces the current one. It returns nil for
// a link that has ended here, or that is not new and not known.
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
	s.use.Go(func() { s.serveStreams(session) })
	s.change()
	return l
}

// refuse tells the host that its link has ended.
func (s *links) refuse(c io.ReadWriteCloser, hello link.Hello) {
	hello.Received = [2]uint64{}
	l := link.New(hello.ID)
	tell := time.AfterFunc(refuseWait, func() { _ = l.Close() })
	defer tell.Stop()
	_ = l.Carry(s.ctx, c, &hello)
	_ = l.Close()
}

// open opens a stream of a kind as soon as there is a link with a carrier.
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
				_ = l.Close() // its session does not work any more
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// untilAway returns a context that ends when the host counts as away.
func (s *links) untilAway() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hostCtx
}

// close ends the newest link, and waits for the goroutines of all links.
func (s *links) close() {
	s.mu.Lock()
	s.away.Stop()
	l := s.link
	s.hostCancel()
	s.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
	s.use.Wait()
}
