package mux

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

// Unread bytes are bounded over all streams. A stuck reader loses its stream, and the others go on.
func TestUnreadBytesAreBounded(t *testing.T) {
	for _, test := range []struct {
		name string
		size int // of each message
		each int // bytes of a stream
	}{
		{"large messages", maxMessage - headSize, 200 << 10},
		{"just too large for a buffer", maxMessage/2 + 1, 150 << 10},
		{"bytes", 1, 2000},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outside, conn := against(t)
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				const streams = 100
				before := heap()
				go flood(conn, streams, test.size, test.each)
				var open []Stream
				for range streams {
					_, s, err := outside.Accept()
					if err != nil {
						t.Fatal(err)
					}
					open = append(open, s)
				}
				if n, _ := kept(outside); n <= maxUnread || n > maxUnread+2*maxMessage {
					t.Fatalf("%d bytes are kept", n)
				}
				if grown := heap() - before; grown > maxUnread*5/4 {
					t.Errorf("the heap grew by %d bytes", grown)
				}
				time.Sleep(readWithin + 1) //nolint:forbidigo // on the clock of synctest
				var reset atomic.Int32
				var readers sync.WaitGroup
				for _, s := range open {
					readers.Go(func() {
						_, err := io.CopyN(io.Discard, s, int64(test.each))
						if err != nil {
							reset.Add(1)
						}
						s.Close()
					})
					if n, _ := kept(outside); n > maxUnread+2*maxMessage {
						t.Fatalf("%d bytes are kept", n)
					}
				}
				readers.Wait()
				if n := reset.Load(); n == 0 || n > 2 {
					t.Errorf("%d of %d streams were reset", n, streams)
				}
				if n, streams := kept(outside); n != 0 || streams != 0 {
					t.Errorf("when all streams are closed, %d bytes of %d streams are kept", n, streams)
				}
			})
		})
	}
}

// A session whose readers are stuck can be closed.
func TestCloseWhileTooMuchIsUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside, conn := against(t)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		go flood(conn, 100, maxMessage-headSize, 200<<10)
		if n, _ := kept(outside); n <= maxUnread {
			t.Fatalf("only %d bytes are kept", n)
		}
		began := time.Now()
		outside.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// A stream that the host has closed is gone, although the other end keeps its direction open.
func TestClosedStreamIsGone(t *testing.T) {
	outside, client := hostileContainer(t)
	theirs := begin(t, client, "Tquestion")
	_, ours, err := outside.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(ours, "answer"); err != nil {
		t.Fatal(err)
	}
	ours.Close()
	if answer, err := io.ReadAll(theirs); err != nil || string(answer) != "answer" {
		t.Errorf("read %q, %v", answer, err)
	}
	if n := outside.yamux.NumStreams(); n != 0 {
		t.Errorf("%d streams are kept", n)
	}
	for err == nil { // until the reset has come
		_, err = theirs.Write([]byte("more"))
	}
	if !errors.Is(err, yamux.ErrStreamReset) {
		t.Errorf("writing to it: %v", err)
	}
}

// The growth of all windows together is bounded, and streams that end give their part back.
func TestGrowthIsBounded(t *testing.T) {
	var g growth
	a, b := g.span(), g.span()
	for _, step := range []struct {
		name string
		of   yamux.MemoryManager
		size int
		fits bool
	}{
		{"half", a, maxGrowth / 2, true},
		{"the other half", b, maxGrowth / 2, true},
		{"one more", a, 1, false},
	} {
		if err := step.of.ReserveMemory(step.size, 128); (err == nil) != step.fits {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	if err := a.ReserveMemory(256<<10, 255); err != nil {
		t.Errorf("a first window: %v", err)
	}
	a.Done()
	a.Done()
	if err := b.ReserveMemory(maxGrowth/2+1, 128); err == nil {
		t.Error("what one stream gave back was counted twice")
	}
	if err := b.ReserveMemory(maxGrowth/2, 128); err != nil {
		t.Errorf("what the other stream gave back: %v", err)
	}
}

// kept returns how many bytes of how many streams a session holds once nothing moves.
func kept(s *Session) (bytes, streams int) {
	synctest.Wait()
	s.intake.mu.Lock()
	defer s.intake.mu.Unlock()
	return s.intake.unread, len(s.intake.known)
}

// heap returns how many bytes of the heap are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// flood opens streams and then writes so many bytes to each, a message to each in turn.
func flood(conn net.Conn, streams, size, each int) {
	for i := range streams {
		conn.Write(message(0, 1, uint32(2*i+1), 1, byte(Ports)))
	}
	data := make([]byte, size)
	for sent := 0; sent < each; sent += size {
		for i := range streams {
			n := min(size, each-sent)
			if _, err := conn.Write(message(0, 0, uint32(2*i+1), uint32(n), data[:n]...)); err != nil {
				return
			}
		}
	}
}

// Messages are counted the same however they are split into reads, and never below zero.
func FuzzIntake(f *testing.F) {
	f.Add(append(message(0, 1, 1, 3, 1, 2, 3), message(0, 0, 1, 1, 4)...), 5)
	f.Add(append(message(1, 1, 1, 0), message(1, 1, 1, 0)...), 12)
	f.Add(message(0, 0, 1, maxMessage+1), 1)
	f.Add(append(message(0, 0, 2, 3, 1, 2, 3), message(0, 0, 4, 1, 4)...), 7)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, parts := newIntake(nil), newIntake(nil)
		for _, in := range []*intake{whole, parts} {
			if _, err := in.open(); err != nil {
				t.Fatal(err)
			}
		}
		err := whole.parse(b)
		var again error
		for rest := b; len(rest) > 0 && again == nil; {
			n := min(max(cut, 1), len(rest))
			again = parts.parse(rest[:n])
			rest = rest[n:]
		}
		if (err == nil) != (again == nil) || whole.unread != parts.unread || len(whole.known) != len(parts.known) {
			t.Fatalf("% x: %v with %d unread, in parts %v with %d", b, err, whole.unread, again, parts.unread)
		}
		for _, s := range whole.known {
			if whole.wasRead(s, s.bytes/2); s.bytes < 0 || s.overhead < 0 {
				t.Fatalf("% x: %+v", b, s)
			}
			whole.wasClosed(s)
		}
		if whole.unread != 0 {
			t.Errorf("% x: %d bytes are unread of no stream", b, whole.unread)
		}
	})
}
