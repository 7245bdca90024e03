package fakeengine

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// halfCloser is a connection whose two directions can be closed separately.
type halfCloser interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// How much can be on its way in one direction of a connection: inTransit pieces of pieceSize bytes,
// 16 MiB. A delayed line without a speed limit is full then.
const (
	pieceSize = 32 << 10
	inTransit = 512
)

// pace limits the speed of one direction of the line, which all connections share.
type pace struct {
	mu   sync.Mutex
	free time.Time // when the last byte so far is sent
}

// lateness is how late timers may fire without making the line slower than the limit.
const lateness = 10 * time.Millisecond

// send returns the time when n more bytes are sent.
func (p *pace) send(n, bytesPerSecond int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if least := now.Add(-lateness); p.free.Before(least) {
		p.free = least
	}
	if bytesPerSecond > 0 {
		p.free = p.free.Add(time.Duration(n) * time.Second / time.Duration(bytesPerSecond))
	}
	if p.free.Before(now) {
		return now
	}
	return p.free
}

// line is one connection between a client and the proxy.
type line struct {
	e             *Engine
	client, proxy halfCloser
	last          atomic.Int64 // when a byte came last, in nanoseconds since 1970
	life          context.Context
	end           context.CancelFunc
}

// Close drops the connection.
func (l *line) Close() error {
	l.end()
	l.client.Close()
	return l.proxy.Close()
}

// carry connects a client with the proxy, or with the ssh server in front of it. It returns when both
// directions have ended.
func (e *Engine) carry(client net.Conn) {
	proxy, err := e.behind()
	if err != nil {
		client.Close()
		return
	}
	// Both are Unix sockets or TCP connections.
	l := &line{e: e, client: client.(halfCloser), proxy: proxy.(halfCloser)}
	l.life, l.end = context.WithCancel(e.life)
	defer l.Close()
	done, ok := e.begin(l)
	if !ok {
		return
	}
	defer done()
	l.last.Store(time.Now().UnixNano())
	var watch, both sync.WaitGroup
	watch.Go(l.dropIdle)
	both.Go(func() { l.direction(l.proxy, l.client, &e.pace[0]) })
	both.Go(func() { l.direction(l.client, l.proxy, &e.pace[1]) })
	both.Wait()
	l.end()
	watch.Wait()
}

// piece is some bytes on their way.
type piece struct {
	bytes []byte
	due   time.Time // when they arrive
}

// direction carries bytes from one end to the other, and then their end.
func (l *line) direction(to, from halfCloser, p *pace) {
	sent := make(chan piece, inTransit) // full: the sender waits
	var sender sync.WaitGroup
	sender.Go(func() {
		defer close(sent)
		l.send(sent, from, p)
	})
	for s := range sent {
		if !l.wait(s.due) {
			break
		}
		if _, err := to.Write(s.bytes); err != nil {
			l.Close()
			break
		}
	}
	_ = to.CloseWrite()
	for range sent { // the sender may be waiting
	}
	sender.Wait()
}

// send reads pieces until the end, each as soon as the one before is sent.
func (l *line) send(sent chan<- piece, from io.Reader, p *pace) {
	buffer := make([]byte, pieceSize)
	for {
		f, _ := l.e.now()
		size := pieceSize
		if f.BytesPerSecond > 0 { // a few milliseconds long, so that connections take turns
			size = min(pieceSize, max(256, f.BytesPerSecond/256))
		}
		n, err := from.Read(buffer[:size])
		l.last.Store(time.Now().UnixNano())
		f, ok := l.moving()
		if !ok {
			return
		}
		free := p.send(n, f.BytesPerSecond)
		if !l.wait(free) {
			return
		}
		if n > 0 || err != nil { // the end is delayed, too
			sent <- piece{bytes.Clone(buffer[:n]), free.Add(f.Delay / 2)}
		}
		if err != nil {
			return
		}
	}
}

// moving waits while the line stalls, and returns the faults after that. It returns false when the
// connection has ended.
func (l *line) moving() (Faults, bool) {
	for {
		f, changed := l.e.now()
		if !f.Stall {
			return f, l.life.Err() == nil
		}
		select {
		case <-changed:
		case <-l.life.Done():
			return f, false
		}
	}
}

// wait waits until a time. It returns false when the connection has ended.
func (l *line) wait(until time.Time) bool {
	left := time.Until(until)
	if left <= 0 {
		return l.life.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.life.Done():
		return false
	}
}

// dropIdle closes the connection when it was idle for too long.
func (l *line) dropIdle() {
	for {
		f, changed := l.e.now()
		var expired <-chan time.Time
		if f.Idle > 0 {
			left := f.Idle - time.Since(time.Unix(0, l.last.Load()))
			if left <= 0 {
				l.Close()
				return
			}
			expired = time.After(left)
		}
		select {
		case <-expired:
		case <-changed:
		case <-l.life.Done():
			return
		}
	}
}
