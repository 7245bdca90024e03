package session

import (
	"bytes"
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Kept is what the program that replaces this one needs to know of a running session, besides what is
// on disk.
type Kept struct {
	ID     stored.ID
	Life   int
	Opener Opener
	// Connection is the descriptor of the connection to the agent's terminal. It is 0 for an agent
	// that is reached over a stream: the other program connects by itself.
	Connection int
	// Have is how many bytes of output were received from an agent that is reached over a stream.
	Have uint64
	// Ahead is output that was received but not shown yet. The next Past bytes of output, those of
	// Ahead first, are from before the agent was taken back.
	Ahead []byte
	Past  int64
	// Cols and Rows are the size of the terminal.
	Cols, Rows int
	// Waiting is the time that is left for each waiting call, by id.
	Waiting map[string]approval.Left
}

// gate makes callers of wait block while it is closed. A new gate is open.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed when the gate opens; nil: it is open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

// wait waits until the gate is open, or ctx ends.
func (g *gate) wait(ctx context.Context) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened == nil {
		return nil
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Calm makes tool calls and model requests that arrive from now on wait, until it is called with
// false.
func (s *Session) Calm(calm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm = calm; calm {
		s.requests.close()
	} else {
		s.requests.open()
	}
	if s.tools != nil {
		s.tools.Calm(calm)
	}
}

// Busy returns how many tool calls are under way, including those that wait for a person, how many
// model requests, and whether the session is starting.
func (s *Session) Busy() (calls, requests int, starting bool) {
	s.tally.mu.Lock()
	running, over := s.tally.running, s.tally.dead || s.tally.closed
	requests = s.tally.requests
	s.tally.mu.Unlock()
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	if tools != nil {
		calls = tools.Begun()
	}
	return calls, requests, !running && !over
}

// Rest ends the tool servers; calls start them again.
func (s *Session) Rest(limit time.Duration) {
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	if tools != nil {
		tools.Rest(limit)
	}
}

// HandOver stops reading from the agent and returns what another program needs to continue this
// session, and the connection to keep open. undo makes this process continue the session.
func (s *Session) HandOver() (k *Kept, conn syscall.RawConn, undo func(), err error) {
	s.mu.Lock()
	running, output := s.program, s.output
	s.mu.Unlock()
	var container *docker.Container
	var rest []byte
	var taken *takenBack
	switch p := running.(type) {
	case *overStream:
		return s.handOverStream(p.Stream, output)
	case *docker.Container:
		container = p
	case *takenBack:
		container, taken = p.Container, p
	default:
		return nil, nil, nil, fault.New("", "hand over session %s: it has no container", s.fixed.ID)
	}
	container.HoldReads(true)
	ahead, past := output.hold()
	undo = func() {
		container.HoldReads(false)
		output.release()
	}
	if taken != nil && taken.history != nil {
		rest = taken.history.Bytes()
	}
	conn, unread, err := container.Connection()
	k = &Kept{ID: s.fixed.ID, Life: s.fixed.Life, Opener: s.opener, Ahead: bytes.Join([][]byte{ahead, rest, unread}, nil), Past: past, Waiting: s.deps.Approvals.Left(s.fixed.ID)}
	k.Cols, k.Rows = container.Size()
	if err == nil {
		err = conn.Control(func(fd uintptr) { k.Connection = int(fd) })
	}
	if err != nil {
		undo()
		return nil, nil, nil, err
	}
	return k, conn, undo, nil
}

// handOverStream is HandOver for an agent that is reached over a stream.
func (s *Session) handOverStream(stream *reach.Stream, output *output) (k *Kept, conn syscall.RawConn, undo func(), err error) {
	stream.HoldReads(true)
	ahead, past := output.hold()
	unread, have := stream.Unread()
	k = &Kept{ID: s.fixed.ID, Life: s.fixed.Life, Opener: s.opener, Have: have, Ahead: append(ahead, unread...), Past: past, Waiting: s.deps.Approvals.Left(s.fixed.ID)}
	k.Cols, k.Rows = stream.Size()
	return k, nil, func() {
		stream.HoldReads(false)
		output.release()
	}, nil
}

// continueTerminal adopts the connection to an agent's terminal that another program has handed over.
func (s *Session) continueTerminal(engine *docker.Client, id string) (attached, error) {
	k := s.kept
	container, err := engine.Adopt(id, os.NewFile(uintptr(k.Connection), "terminal"))
	if err != nil {
		return nil, err
	}
	container.SetSize(k.Cols, k.Rows)
	s.connectedBefore()
	return &takenBack{Container: container, past: k.Past, history: bytes.NewBuffer(k.Ahead)}, nil
}
