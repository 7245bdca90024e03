package mcpproxy

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// A TCP client begins with one line, "Bearer TOKEN". It has little time for that, and only a
// few clients may do so at a time.
const (
	tokenPrefix = "Bearer "
	tokenLine   = 512 // bytes
	tokenTime   = 5 * time.Second
	tokenGuests = 16
	// MinToken is the shortest token that is accepted, in bytes.
	MinToken = 32
)

// ServeToken accepts clients that know the token until the proxy is closed. It disconnects
// and records other clients. A TCP port needs a token because, unlike a socket file, it has
// no mode that keeps other users out.
func (p *Proxy) ServeToken(l net.Listener, token string) error {
	if len(token) < MinToken || strings.ContainsAny(token, " \t\r\n") {
		return errors.Join(fmt.Errorf("tool proxy: a token has at least %d bytes and no white space", MinToken), l.Close())
	}
	t := &tokenListener{
		Listener: l, want: sha256.Sum256([]byte(token)), known: make(chan net.Conn), ended: make(chan struct{}),
		guests: make(chan struct{}, tokenGuests),
		failed: p.acceptFailed,
		refused: func(who net.Addr, err error) {
			p.recordRefused(context.Background(), fmt.Errorf("client %s: %w", who, err))
		},
	}
	t.life, t.end = context.WithCancel(context.Background())
	t.group.Go(t.accept)
	err := p.Serve(t)
	return errors.Join(err, t.Close())
}

// tokenListener accepts only connections that begin with the token.
type tokenListener struct {
	net.Listener
	want    [sha256.Size]byte
	known   chan net.Conn // unbuffered: taken by Accept, or closed with the listener
	ended   chan struct{} // closed when the listener below has ended
	guests  chan struct{} // one for each connection that has not shown its token
	refused func(net.Addr, error)
	failed  func(error, time.Duration)
	life    context.Context // ends with Close
	end     context.CancelFunc
	once    sync.Once
	group   sync.WaitGroup
	cause   error // why accept ended; read after ended
}

// Accept returns the next connection that began with the token.
func (t *tokenListener) Accept() (net.Conn, error) {
	select {
	case conn := <-t.known:
		return conn, nil
	case <-t.ended:
		return nil, t.cause
	}
}

// Close closes the listener and the connections that Accept has not returned.
func (t *tokenListener) Close() error {
	err := t.Listener.Close()
	t.end()
	t.group.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (t *tokenListener) accept() {
	defer t.once.Do(func() { close(t.ended) })
	for {
		conn, err := accept.Next(t.life, t.Listener, t.failed)
		if err != nil {
			t.cause = err
			return
		}
		select {
		case t.guests <- struct{}{}:
			t.group.Go(func() { t.admit(conn) })
		default:
			t.refused(conn.RemoteAddr(), errors.New("too many connections have not shown a token"))
			_ = conn.Close()
		}
	}
}

// admit accepts a connection if its first line is right.
func (t *tokenListener) admit(conn net.Conn) {
	err := t.check(conn)
	<-t.guests
	if err != nil {
		t.refused(conn.RemoteAddr(), err)
		_ = conn.Close()
		return
	}
	select {
	case t.known <- conn:
	case <-t.ended:
		_ = conn.Close()
	}
}

// check reads only the first line, and compares the token in constant time.
func (t *tokenListener) check(conn net.Conn) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() { // a closed listener does not wait for clients that have shown no token
		select {
		case <-t.ended:
			_ = conn.SetReadDeadline(time.Unix(1, 0))
		case <-stop:
		}
	}()
	if err := conn.SetReadDeadline(time.Now().Add(tokenTime)); err != nil {
		return err
	}
	var line []byte
	var b [1]byte
	for len(line) < tokenLine {
		if _, err := conn.Read(b[:]); err != nil {
			return errors.New("it showed no token")
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	shown, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\r"), tokenPrefix)
	got := sha256.Sum256([]byte(shown))
	if subtle.ConstantTimeCompare(got[:], t.want[:]) != 1 || !ok {
		return errors.New("it does not know the token")
	}
	return conn.SetReadDeadline(time.Time{})
}
