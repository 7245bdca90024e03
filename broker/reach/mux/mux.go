package mux

import (
	"context"
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

// The kinds that the container opens.
const (
	Tools Kind = 'T' // to the proxy of the tool servers
	Model Kind = 'M' // to the proxy of the models
	Ports Kind = 'P' // to the ports that a person has opened
)

// most is how many streams of a kind are open at once. Kinds that are not in it are unknown. A
// session has 256 connections of ports, and 64 that have not said yet what they want.
var most = map[Kind]int{Tools: 64, Model: 256, Ports: 64 + 256}

// mostStreams is how many streams are open at once, of all kinds together.
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

// Errors of a session.
var (
	errKind = errors.New("the kind of a stream is unknown")
	errFull = errors.New("there are too many streams of its kind")
)

// Stream is one connection inside a session. Close lets the other end read what was
// written, and then the end; what the other end writes after that fails.
type Stream interface {
	net.Conn
	CloseWrite() error
}

// Session is one end of a multiplexed connection.
type Session struct {
	yamux  *yamux.Session
	intake *intake // of the host's end, else nil

	mu   sync.Mutex
	open map[Kind]int
}

// Inside makes the end in the container, which opens streams. It owns conn.
func Inside(conn net.Conn) (*Session, error) {
	c := config()
	c.MaxIncomingStreams = 0
	y, err := yamux.Client(conn, c, nil)
	if err != nil {
		return nil, fmt.Errorf("start multiplexer: %w", err)
	}
	return &Session{yamux: y, open: map[Kind]int{}}, nil
}

// Outside makes the host's end, which accepts streams. It owns conn.
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
	return &Session{yamux: y, intake: in, open: map[Kind]int{}}, nil
}

func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxMessageSize = mostMessage
	c.MaxStreamWindowSize = mostWindow
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = patience
	return c
}

// Open opens a stream. It waits while the other end cannot take one, until ctx ends.
func (s *Session) Open(ctx context.Context, k Kind) (Stream, error) {
	if most[k] == 0 {
		return nil, fmt.Errorf("open stream: %w: %q", errKind, k)
	}
	if !s.enter(k) {
		return nil, fmt.Errorf("open stream: %w", errFull)
	}
	y, err := s.begin(ctx, k)
	if err != nil {
		s.leave(k)
		if ctx.Err() != nil {
			err = ctx.Err() // yamux calls it a deadline
		}
		return nil, fmt.Errorf("open stream: %w", err)
	}
	return &stream{Stream: y, session: s, kind: k}, nil
}

// begin opens a stream and says its kind.
func (s *Session) begin(ctx context.Context, k Kind) (*yamux.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // yamux would keep what it has begun
	}
	y, err := s.yamux.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = y.Reset() })
	_, err = y.Write([]byte{byte(k)})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = y.Reset()
		return nil, err
	}
	return y, nil
}

// Accept waits for a stream of the other end's and for its kind. It returns io.EOF when the
// session has ended.
func (s *Session) Accept() (Kind, Stream, error) {
	for {
		y, err := s.yamux.AcceptStream()
		if err != nil {
			return 0, nil, io.EOF // yamux returns no error but that of the session's end
		}
		a := &accepted{share: s.intake.accepted(y)}
		a.Stream, a.session = y, s
		var first [1]byte
		if _, err := io.ReadFull(a, first[:]); err != nil {
			a.giveUp() // so has the other end, before it said what the stream is for
			continue
		}
		a.kind = Kind(first[0])
		if _, known := most[a.kind]; !known {
			a.giveUp()
			s.Close()
			return 0, nil, fmt.Errorf("accept stream: %w: %q", errKind, first[:])
		}
		if !s.enter(a.kind) {
			a.giveUp()
			continue
		}
		return a.kind, a, nil
	}
}

// Close ends the session, its streams and its connection.
func (s *Session) Close() error {
	err := s.yamux.Close()
	if s.intake != nil {
		s.intake.Close() // yamux may have been closing by itself, and not be there yet
		s.intake.resets.Wait()
	}
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
