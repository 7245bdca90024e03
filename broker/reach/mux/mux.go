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

// Kind is what a stream is for: its first byte.
type Kind byte

// The kinds.
const (
	// The container opens these.
	Tools Kind = 'T' // to the proxy of the tool servers
	Model Kind = 'M' // to the proxy of the models
	Ports Kind = 'P' // to the ports that a person has opened

	// The host opens this one.
	Files Kind = 'F' // to the container's treesync.Server
)

// maxOpen is how many streams of each kind may be open at once. Other kinds are unknown. Ports has
// 256 connections, and 64 that have not sent yet to which port they go.
var maxOpen = map[Kind]int{Tools: 64, Model: 256, Ports: 64 + 256, Files: 4}

// maxStreams is how many streams the container may have open at once, of all kinds together.
const maxStreams = 64 + 256 + 64 + 256

const (
	// maxMessage is the size of a yamux message with its head: one frame of a link.
	maxMessage = 16 << 10
	// maxWindow is how many bytes of one stream may be in flight.
	maxWindow = 4 << 20
	// patience is longer than a link ever waits for a carrier, because the link and not yamux's
	// timer decides when a session ends.
	patience = 24 * time.Hour
)

// ErrFull is returned by Open when too many streams of the kind are open.
var ErrFull = errors.New("there are too many streams of its kind")

// Other errors of a session.
var (
	errKind  = errors.New("its kind is unknown, or may not be opened by that end")
	errEnded = errors.New("the session has ended")
)

// Stream is one connection inside a session. After Close the other end can still read what was
// written, and its writes fail.
type Stream interface {
	net.Conn
	CloseWrite() error
}

// Session is one end of a multiplexed connection.
type Session struct {
	yamux   *yamux.Session
	intake  *intake        // of the host's end, else nil
	opening chan struct{}  // a lock: holds one value while the host opens a stream, so that intake knows its number
	running sync.WaitGroup // goroutines that open streams, and the one that accepts them

	mu     sync.Mutex
	open   map[Kind]int
	closed bool // no new goroutine starts
}

// Inside makes the container's end, which accepts Files and opens all other kinds. It owns conn.
func Inside(conn net.Conn) (*Session, error) {
	c := config()
	c.MaxIncomingStreams = uint32(maxOpen[Files])
	y, err := yamux.Client(conn, c, nil)
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	return &Session{yamux: y, open: map[Kind]int{}}, nil
}

// Outside makes the host's end, which opens Files and accepts all other kinds. It owns conn.
func Outside(conn net.Conn) (*Session, error) {
	in := newIntake(conn)
	c := config()
	// The intake lets no more through, so yamux never drops a stream by itself, and both know the
	// same ones.
	c.MaxIncomingStreams, c.AcceptBacklog = maxKnown, maxKnown
	grown := &growth{}
	y, err := yamux.Server(in, c, func() (yamux.MemoryManager, error) { return grown.span(), nil })
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	s := &Session{yamux: y, intake: in, opening: make(chan struct{}, 1), open: map[Kind]int{}}
	s.running.Go(s.acceptAll)
	return s, nil
}

// opens reports whether this end may open streams of a kind; else the other end may.
func (s *Session) opens(k Kind) bool { return (k == Files) == (s.intake != nil) }

func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxMessageSize = maxMessage
	c.MaxStreamWindowSize = maxWindow
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
		s.intake.Close() // yamux may be closing by itself just now, and not have done this yet
		s.intake.resets.Wait()
	}
	s.running.Wait()
	return err
}

// acquire counts one more stream of a kind, and returns false at the limit.
func (s *Session) acquire(k Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[k] >= maxOpen[k] {
		return false
	}
	s.open[k]++
	return true
}

func (s *Session) release(k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[k]--
}
