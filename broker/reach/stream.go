package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Engine is what a Stream needs of a container engine.
type Engine interface {
	// Stream executes a program in a container; its input and output are the connection.
	Stream(ctx context.Context, id string, argv []string, user string) (net.Conn, error)
}

// Container is what a Stream needs of a container; a docker.Handle is one.
type Container interface {
	ID() string
	Wait(ctx context.Context) (docker.Exit, error)
	HangUp(ctx context.Context) error
	Remove(ctx context.Context) error
	FollowMemory(ctx context.Context, full func())
}

// Stream is the host's end of the stream to a container: the connections to accept and, once Begin
// has returned, the agent's terminal, which it embeds.
type Stream struct {
	*terminal
	listeners map[mux.Kind]*listener

	life        context.Context // ends with the Stream; its cause says why
	cancel      context.CancelCauseFunc
	current     currentLink
	filling     sync.Once     // starts the order's Fill
	filled      chan struct{} // closed when Fill has returned
	fillErr     error         // what Fill returned; set before filled is closed
	reportTimer *time.Timer   // for the report and the start; stopped during Fill

	// Set by Begin.
	order     Order
	engine    Engine
	container Container
	pace      pace // of carriers; used by carry only
	checked   bool // the report was judged; used by run only
	running   sync.WaitGroup
	lostTold  time.Time     // when the person was told of lost output; used by run only
	begun     chan struct{} // closed when the agent runs
	once      sync.Once
	over      chan struct{} // closed when the container has ended
	exit      docker.Exit   // how it ended; set before over is closed
	waitErr   error
}

// Order says which agent is to be reached, and how.
type Order struct {
	User       string   // who executes the bridge: "uid:gid"
	Carry      []string // the command in the container that becomes a carrier
	Cols, Rows int      // of the agent's terminal
	// Check judges the bridge's report, before anything of the agent runs. An error ends the attempt.
	// It is called for the first link only: a report from when the agent runs proves nothing.
	Check func(report []byte) error
	// Fill, if not nil, brings files into the container (OpenFiles), after Check and before anything
	// of the agent runs, unless the agent is taken back. It is called once, and must return when ctx
	// ends. An error ends the attempt; with ErrFilled no agent is to start at all.
	Fill func(ctx context.Context) error
	// Tell tells the person something; it returns at once.
	Tell func(text string)
	// Have is how many bytes of a running agent's output an earlier process has received, and Ahead
	// what it has received and not shown. Past bytes of Ahead are older than that process.
	Have  uint64
	Ahead []byte
	Past  int64
}

// NewStream returns a Stream whose Listeners can be used.
func NewStream() *Stream {
	s := &Stream{
		terminal: newTerminal(), listeners: map[mux.Kind]*listener{},
		filled: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{}),
	}
	s.life, s.cancel = context.WithCancelCause(context.Background())
	s.current.changed = make(chan struct{})
	s.reportTimer = time.NewTimer(reportPatience)
	s.reportTimer.Stop()
	for _, k := range []mux.Kind{mux.Tools, mux.Model, mux.Ports} {
		s.listeners[k] = newListener(k)
	}
	return s
}

// Listener returns the connections of one kind.
func (s *Stream) Listener(k mux.Kind) net.Listener { return s.listeners[k] }

// reportPatience is how long a running container may take to report, and then to start the agent.
const reportPatience = 30 * time.Second

// Begin connects with the container's bridge and returns when the agent runs. It fails when Check or
// Fill does, when the container ends, or when it does not report. It returns ErrFilled when Fill
// does. After an error the caller removes the container, and in any case closes the Stream.
func (s *Stream) Begin(ctx context.Context, engine Engine, c Container, o Order) error {
	const op = "reach the container"
	s.engine, s.container, s.order = engine, c, o
	s.change(func() {
		s.cols, s.rows, s.have, s.past = o.Cols, o.Rows, o.Have, o.Past
		s.output.Write(o.Ahead)
	})
	s.reportTimer.Reset(reportPatience)
	defer s.reportTimer.Stop()
	s.running.Go(func() { s.follow(s.life) })
	s.running.Go(func() { s.run(s.life) })
	var err error
	select {
	case <-s.begun:
		return nil
	case <-s.life.Done():
		err = context.Cause(s.life)
		if errors.Is(err, ErrFilled) {
			return ErrFilled
		}
		if errors.Is(err, errEnded) {
			err = errors.Join(s.waitErr, fmt.Errorf("%w: %s%s", err, s.exit.Reason, s.lastWords()))
		}
	case <-s.reportTimer.C:
		err = fault.New("check the engine with 'ironcurtain-mux doctor'", "the container has not reported within %v", reportPatience)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return fault.Wrap(op, err, "")
}

// follow waits for the container's end.
func (s *Stream) follow(ctx context.Context) {
	s.exit, s.waitErr = s.container.Wait(ctx)
	close(s.over)
	s.cancel(errEnded)
}

var (
	errEnded  = errors.New("the container has ended")
	errClosed = errors.New("it was closed")
)

// ID returns the engine's identifier of the container.
func (s *Stream) ID() string { return s.container.ID() }

// FollowMemory calls full whenever the kernel ends a program of the container because of the
// memory limit.
func (s *Stream) FollowMemory(ctx context.Context, full func()) { s.container.FollowMemory(ctx, full) }

// Wait returns when the container has ended.
func (s *Stream) Wait(ctx context.Context) (docker.Exit, error) {
	select {
	case <-s.over:
		return s.exit, s.waitErr
	case <-ctx.Done():
		return docker.Exit{}, fault.Wrap("wait for container", context.Cause(ctx), "")
	}
}

// Close disconnects from the container, which goes on running, and ends all connections. Whoever
// accepts them closes the listeners.
func (s *Stream) Close() error {
	s.once.Do(func() {
		s.change(func() { s.closed = true })
		s.cancel(errClosed)
	})
	s.running.Wait()
	return nil
}

// HangUp tells the agent that its terminal is gone, so that it ends. It does not wait for that.
func (s *Stream) HangUp(ctx context.Context) error { return s.container.HangUp(ctx) }

// Remove ends the agent and removes the container. It keeps the link until then, because the bridge
// waits until it has sent the agent's exit.
func (s *Stream) Remove(ctx context.Context) error {
	s.change(func() { s.closed = true })
	err := s.container.Remove(ctx)
	return errors.Join(err, s.Close())
}

// awayLimit is for how long a link waits for its next carrier. Then its connections end, and the
// terminal continues on a new link.
const awayLimit = 5 * time.Minute

// run keeps a link to the container, and makes a new one whenever it has ended.
func (s *Stream) run(ctx context.Context) {
	defer s.change(func() { s.ended = true })
	for ctx.Err() == nil {
		l := link.New(link.NewID())
		if err := s.serve(ctx, l); err != nil {
			s.cancel(err)
		}
	}
}

// serve uses one link until it ends. An error ends the whole Stream.
func (s *Stream) serve(ctx context.Context, l *link.Link) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	defer s.changed.Broadcast() // wakes send
	defer l.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	parts.Go(func() { s.carry(ctx, l) })
	connections, err := mux.Outside(l.Bulk())
	if err != nil {
		return err
	}
	parts.Go(func() { s.accept(connections) })
	defer connections.Close()
	report, err := link.ReadMessage(l.Typed())
	switch {
	case err != nil:
		return nil //nolint:nilerr // this link has ended; the next one may work
	case report.Kind != link.Seen:
		return whyNoReport(l.Typed(), report)
	}
	if !s.checked {
		if err := s.order.Check(report.Data); err != nil {
			return err
		}
		s.checked = true
	}
	s.current.set(l, connections)
	defer s.current.set(nil, nil)
	if filled, err := s.fill(l); !filled {
		return err
	}
	if err := link.WriteMessage(l.Typed(), s.goMessage()); err != nil {
		return nil //nolint:nilerr // this link has ended; the next one may work
	}
	parts.Go(func() { s.send(l) })
	return s.receive(l.Typed())
}

// goMessage returns the message that starts the agent, or continues with it.
func (s *Stream) goMessage() link.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resized = false
	return link.Message{Kind: link.Go, Data: link.GoData(s.cols, s.rows, s.have)}
}

// send sends what is typed, and new sizes, until the link ends.
func (s *Stream) send(l *link.Link) {
	over := func() bool {
		select {
		case <-l.Done():
			return true
		default:
			return false
		}
	}
	for m := s.next(over); m != nil; m = s.next(over) {
		if link.WriteMessage(l.Typed(), *m) != nil {
			return
		}
		if m.Kind == link.Keys {
			l.Mark()
		}
	}
}

// receive reads the agent's output until the link ends.
func (s *Stream) receive(typed io.Reader) error {
	for {
		m, err := link.ReadMessage(typed)
		if err != nil {
			return nil //nolint:nilerr // the link has ended
		}
		switch m.Kind {
		case link.Output:
			s.wrote(m.Data)
		case link.Past:
			if err := s.resume(m.Data); err != nil {
				return err
			}
		case link.Exit:
			s.change(func() { s.ended = true })
		default:
			return fmt.Errorf("the container sent a message of kind %d", m.Kind)
		}
	}
}

// resume notes that the agent runs, and how much output is from before this link.
func (s *Stream) resume(data []byte) error {
	lost, before, err := link.ParsePast(data)
	if err != nil {
		return err
	}
	s.change(func() {
		if s.have == 0 {
			s.past += int64(min(before, 1<<30))
		}
		s.have += lost
	})
	if now := time.Now(); lost > 0 && now.Sub(s.lostTold) > tellAfter {
		s.lostTold = now
		s.order.Tell(fmt.Sprintf("%d bytes of the agent's output are missing: while nobody was connected it wrote more than is kept", lost))
	}
	select {
	case <-s.begun:
	default:
		close(s.begun)
	}
	return nil
}

// accept passes the container's connections to the listeners.
func (s *Stream) accept(connections *mux.Session) {
	for {
		kind, c, err := connections.Accept()
		if err != nil {
			return
		}
		if l := s.listeners[kind]; l != nil {
			l.offer(c)
		} else {
			_ = c.Close()
		}
	}
}
