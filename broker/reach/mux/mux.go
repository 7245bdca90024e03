package mux

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

// Kind says what a stream is for. It is the stream's first byte.
type Kind byte

// The kinds.
const (
	// The container opens these.
	Tools Kind = 'T' // to the proxy of the tool servers
	Model Kind = 'M' // to the proxy of the models
	Ports Kind = 'P' // to the ports that a person has opened

	// The host opens this one.
	Files Kind = 'F' // to the container's copies of the host's files
)

// most is how many streams of a kind are open at once. Kinds that are not in it are unknown. A
// session has 256 connections of ports, and 64 that have not said yet what they want.
var most = map[Kind]int{Tools: 64, Model: 256, Ports: 64 + 256, Files: 4}

// mostStreams is how many streams the container has open at once, of all kinds together.
const mostStreams = 64 + 256 + 64 + 256

const (
	// mostMessage is the size of a message of the multiplexer, its head included: one frame
	// of a link.
	mostMessage = 16 << 10
	// mostWindow is how much of one stream may be on its way.
	mostWindow = 4 << 20
	// patience is more than a link ever waits for a carrier: a session that waits is ended
	// by its link, and not by a timer of its own.
	patience = 24 * time.Hour
)

// ErrFull is returned by Open when too many streams of the kind are open.
var ErrFull = errors.New("there are too many streams of its kind")

// Other errors of a session.
var (
	errKind  = errors.New("its kind is unknown, or not for that end to open")
	errEnded = errors.New("the session has ended")
)

// Stream is one connection inside a session. Close lets the other end read what was
// written, and then the end; what the other end writes after that fails.
type Stream interface {
	net.Conn
	CloseWrite() error
}

// Session is one end of a multiplexed connection.
type Session struct {
	yamux   *yamux.Session
	intake  *intake        // of the host's end, else nil
	opening chan struct{}  // holds one value while the host's end begins a stream, so that it knows its number
	running sync.WaitGroup // goroutines that open streams, and the one that takes the other end's

	mu     sync.Mutex
	open   map[Kind]int
	closed bool // nothing new runs
}

// Inside makes the end in the container, which opens streams of all kinds but Files and accepts
// those. It owns conn.
func Inside(conn net.Conn) (*Session, error) {
	c := config()
	c.MaxIncomingStreams = uint32(most[Files])
	y, err := yamux.Client(conn, c, nil)
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	return &Session{yamux: y, open: map[Kind]int{}}, nil
}

// Outside makes the host's end, which accepts streams of all kinds but Files and opens those. It
// owns conn.
func Outside(conn net.Conn) (*Session, error) {
	in := newIntake(conn)
	c := config()
	// The intake lets no more through. So yamux itself never drops a stream, and both
	// know the same ones.
	c.MaxIncomingStreams, c.AcceptBacklog = mostKnown, mostKnown
	grown := &growth{}
	y, err := yamux.Server(in, c, func() (yamux.MemoryManager, error) { return grown.span(), nil })
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	s := &Session{yamux: y, intake: in, opening: make(chan struct{}, 1), open: map[Kind]int{}}
	s.running.Go(s.take)
	return s, nil
}

// opens reports whether this end may open streams of a kind. The other end may open those that
// this one may not.
func (s *Session) opens(k Kind) bool { return (k == Files) == (s.intake != nil) }

func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxMessageSize = mostMessage
	c.MaxStreamWindowSize = mostWindow
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = patience
	return c
}

// Close ends the session, its streams and its connection.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.yamux.Close()
	if s.intake != nil {
		s.intake.Close() // yamux may have been closing by itself, and not be there yet
		s.intake.resets.Wait()
	}
	s.running.Wait()
	return err
}

// enter counts a stream in, if there is room for one of its kind.
func (s *Session) enter(k Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[k] >= most[k] {
		return false
	}
	s.open[k]++
	return true
}

func (s *Session) leave(k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[k]--
}
