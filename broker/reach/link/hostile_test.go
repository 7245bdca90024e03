package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// peer takes the place of one end of a link and sends what a test wants.
type peer struct {
	net.Conn
	result chan error // of Carry
}

// newPeer is dial, and sends a hello that fits.
func newPeer(t *testing.T, l *Link) *peer {
	t.Helper()
	p := dial(t, l)
	h, err := ReadHello(p)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	for i, a := range l.lanes {
		h.Received[i] = a.acked
	}
	l.mu.Unlock()
	p.send(h.encode())
	return p
}

// dial gives the link a carrier whose other end is the peer's.
func dial(t *testing.T, l *Link) *peer {
	t.Helper()
	a, b := net.Pipe()
	p := &peer{Conn: b, result: make(chan error, 1)}
	go func() { p.result <- l.Carry(context.Background(), a, nil) }()
	return p
}

// send writes, and ignores that the link may have closed the carrier.
func (p *peer) send(b []byte) { _, _ = p.Write(b) }

// frame writes one frame.
func (p *peer) frame(h head, data ...byte) { p.send(append(h.append(nil), data...)) }

// discard reads what is received, and answers nothing.
func (p *peer) discard() { go func() { _, _ = io.Copy(io.Discard, p) }() }

// An impossible frame ends the carrier. If its offset is impossible, that counts toward the end of
// the link.
func TestWhatCannotBeEndsTheCarrier(t *testing.T) {
	tests := []struct {
		name  string
		cause error
		lie   func(p *peer)
	}{
		{"unknown kind", errFrame, func(p *peer) { p.frame(head{kind: 9}) }},
		{"no kind", errFrame, func(p *peer) { p.frame(head{}) }},
		{"unknown lane", errFrame, func(p *peer) { p.frame(head{kind: frameData, lane: 2, length: 1}, 0) }},
		{"empty data", errFrame, func(p *peer) { p.frame(head{kind: frameData}) }},
		{"long data", errFrame, func(p *peer) { p.frame(head{kind: frameData, length: maxData + 1}) }},
		{"offset that wraps", errFrame, func(p *peer) { p.frame(head{kind: frameData, offset: 1<<64 - 1, length: 1}, 0) }},
		{"beat of a lane", errFrame, func(p *peer) { p.frame(head{kind: frameBeat, lane: 1}) }},
		{"beat with data", errFrame, func(p *peer) { p.frame(head{kind: frameBeat, length: 1}, 0) }},
		{"end with a number", errFrame, func(p *peer) { p.frame(head{kind: frameEnd, offset: 1}) }},
		{"more unread than came", errFrame, func(p *peer) { p.frame(head{kind: frameAck, offset: 1, length: 2}) }},
		{"missing data", errOffset, func(p *peer) { p.frame(head{kind: frameData, offset: 1, length: 1}, 0) }},
		{"data twice", errOffset, func(p *peer) {
			for range 2 {
				p.frame(head{kind: frameData, length: 1}, 0)
			}
		}},
		{"data beyond the window", errOffset, func(p *peer) {
			for at := 0; at <= typedWindow; at += maxData {
				p.frame(head{kind: frameData, offset: uint64(at), length: maxData}, make([]byte, maxData)...)
			}
		}},
		{"acknowledging what was not sent", errOffset, func(p *peer) { p.frame(head{kind: frameAck, offset: 11}) }},
		{"acknowledging less than before", errOffset, func(p *peer) {
			p.frame(head{kind: frameAck, offset: 10})
			p.frame(head{kind: frameAck, offset: 9})
		}},
		{"reading backwards", errOffset, func(p *peer) {
			p.frame(head{kind: frameAck, offset: 9})
			p.frame(head{kind: frameAck, offset: 10, length: 2})
		}},
		{"end", ErrEnded, func(p *peer) { p.frame(head{kind: frameEnd}) }},
		{"cut", io.EOF, func(p *peer) { p.Close() }},
		{"cut within a frame", io.EOF, func(p *peer) { p.send(make([]byte, 3)); p.Close() }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(NewID())
				defer l.Close()
				if _, err := io.WriteString(l.Typed(), "ten bytes."); err != nil {
					t.Fatal(err)
				}
				p := newPeer(t, l)
				p.discard()
				synctest.Wait() // all ten are sent
				test.lie(p)
				if err := <-p.result; !errors.Is(err, test.cause) {
					t.Errorf("the carrier ended with %v, not with %v", err, test.cause)
				}
			})
		})
	}
}

// A hello that does not fit the link is refused.
func TestHellosThatDoNotFit(t *testing.T) {
	l := New(NewID())
	defer l.Close()
	l.lanes[typed].acked, l.lanes[typed].next, l.lanes[typed].top = 5, 5, 5
	good := Hello{Version: Version, ID: l.ID(), Received: [2]uint64{5, 0}}
	with := func(change func(*Hello)) []byte {
		h := good
		change(&h)
		return h.encode()
	}
	tests := []struct {
		name  string
		hello []byte
		cause error
	}{
		{"text", []byte("OCI runtime exec failed: exec failed: no such file"), errNoHello},
		{"short", good.encode()[:20], io.ErrUnexpectedEOF},
		{"nothing", nil, io.EOF},
		{"another version", with(func(h *Hello) { h.Version++ }), errVersion},
		{"another link", with(func(h *Hello) { h.ID[3]++ }), errOther},
		{"less than was acknowledged", with(func(h *Hello) { h.Received[typed] = 4 }), errLate},
		{"more than was sent", with(func(h *Hello) { h.Received[bulk] = 1 }), errOffset},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := dial(t, l)
			if _, err := ReadHello(p); err != nil {
				t.Fatal(err)
			}
			p.send(test.hello)
			p.Close()
			err := <-p.result
			if !errors.Is(err, test.cause) {
				t.Errorf("the carrier ended with %v, not with %v", err, test.cause)
			}
			if errors.Is(test.cause, errNoHello) && !strings.Contains(err.Error(), string(test.hello)) {
				t.Errorf("%v does not tell what came", err)
			}
			theirs, err := ReadHello(bytes.NewReader(test.hello))
			if err != nil {
				return
			}
			a, b := net.Pipe()
			defer b.Close()
			if err := l.Carry(t.Context(), a, &theirs); !errors.Is(err, test.cause) {
				t.Errorf("passed, it was taken as %v, not as %v", err, test.cause)
			}
		})
	}
}

// Three wrong counts within a minute end the link; rarer ones do not.
func TestWrongCountsEndTheLink(t *testing.T) {
	frame := func(t *testing.T, l *Link) error {
		t.Helper()
		p := newPeer(t, l)
		p.discard()
		p.frame(head{kind: frameData, offset: 1, length: 1}, 0)
		return <-p.result
	}
	hello := func(_ *testing.T, l *Link) error {
		return l.Carry(context.Background(), nothing{}, &Hello{Version: Version, ID: l.ID(), Received: [2]uint64{0, 1}})
	}
	answer := func(t *testing.T, l *Link) error {
		t.Helper()
		p := dial(t, l)
		h, err := ReadHello(p)
		if err != nil {
			t.Fatal(err)
		}
		h.Received[typed] = 1
		p.send(h.encode())
		return <-p.result
	}
	for _, test := range []struct {
		name  string
		lie   func(*testing.T, *Link) error
		every time.Duration
		ends  bool
	}{
		{"at once", frame, 0, true},
		{"within a minute", frame, 29 * time.Second, true},
		{"in more than a minute", frame, 31 * time.Second, false},
		{"in hellos", hello, 0, true},
		{"in hellos that answer ours", answer, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(NewID())
				defer l.Close()
				for i := range 3 {
					err := test.lie(t, l)
					if !errors.Is(err, errOffset) {
						t.Errorf("wrong count %d: %v", i+1, err)
					}
					if last := i == 2; errors.Is(err, ErrHostile) != (last && test.ends) || isClosed(l.Done()) != (last && test.ends) {
						t.Errorf("wrong count %d: %v, ended %v", i+1, err, isClosed(l.Done()))
					}
					time.Sleep(test.every) //nolint:forbidigo // on the clock of synctest
				}
			})
		})
	}
}

// A peer that sends beats without end and reads nothing costs neither goroutines nor memory.
func TestFloodOfBeats(t *testing.T) {
	l := New(NewID())
	defer l.Close()
	p := newPeer(t, l)
	before := runtime.NumGoroutine()
	flood := bytes.Repeat(head{kind: frameBeat, offset: 7}.append(nil), 10_000)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	for range 30 {
		p.send(flood)
	}
	runtime.GC()
	runtime.ReadMemStats(&end)
	if grown := int64(end.HeapAlloc) - int64(start.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines run, %d ran before", n, before)
	}
	p.Close()
	<-p.result
}

// A peer can make an end buffer at most 10 MiB.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(NewID())
		l.lanes[bulk].flight.size = maxFlight
		for _, w := range []io.Writer{l.Typed(), l.Bulk()} {
			go func() {
				for {
					if _, err := w.Write(make([]byte, 9999)); err != nil {
						return
					}
				}
			}()
		}
		p := newPeer(t, l)
		p.discard()
		for i, a := range l.lanes {
			for at := 0; at < a.window; at += maxData {
				p.frame(head{kind: frameData, lane: byte(i), offset: uint64(at), length: maxData}, make([]byte, maxData)...)
			}
		}
		synctest.Wait()
		kept := 0
		l.mu.Lock()
		for _, a := range l.lanes {
			kept += len(a.in.bytes) + len(a.out.bytes)
		}
		l.mu.Unlock()
		if kept < 8<<20 || kept > 10<<20 {
			t.Errorf("%d bytes are kept", kept)
		}
		p.Close()
		<-p.result
		l.Close()
	})
}
