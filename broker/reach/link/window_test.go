package link

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Without a carrier, a lane buffers as much as its window, and Close ends the wait for room.
func TestWriteWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(NewID())
		wrote := make(chan int, 1)
		go func() {
			n, err := l.Typed().Write(make([]byte, typedWindow+1))
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("it ended with %v", err)
			}
			wrote <- n
		}()
		synctest.Wait()
		l.Close()
		if n := <-wrote; n != typedWindow {
			t.Errorf("it took %d bytes", n)
		}
	})
}

// A lane that nobody reads does not stop the other one.
func TestUnreadLaneDoesNotStopTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t)
		a, b := net.Pipe()
		wait := e.carry(context.Background(), a, b)
		var writing sync.WaitGroup
		for _, from := range []*Link{e.host, e.inside} {
			writing.Go(func() {
				for {
					if _, err := from.Bulk().Write(make([]byte, maxData)); err != nil {
						return
					}
				}
			})
		}
		time.Sleep(time.Minute) //nolint:forbidigo // on the clock of synctest
		go echo(e.inside.Typed())
		key := []byte("k")
		if _, err := e.host.Typed().Write(key); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(e.host.Typed(), key); err != nil {
			t.Fatal(err)
		}
		e.host.Close()
		wait()
		writing.Wait()
	})
}

// A late reader lets the writer continue, on the same carrier or a new one.
func TestLateReaderLetsTheWriterGoOn(t *testing.T) {
	for _, test := range []struct {
		name  string
		lane  func(*Link) io.ReadWriter
		size  int
		again bool // another carrier is used before the first byte is read
	}{
		{"typed", func(l *Link) io.ReadWriter { return l.Typed() }, typedWindow, false},
		{"typed after a cut", func(l *Link) io.ReadWriter { return l.Typed() }, typedWindow, true},
		{"bulk", func(l *Link) io.ReadWriter { return l.Bulk() }, bulkWindow, false},
		{"bulk after a cut", func(l *Link) io.ReadWriter { return l.Bulk() }, bulkWindow, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnds(t)
				ctx, cut := context.WithCancel(context.Background())
				a, b := net.Pipe()
				wait := e.carry(ctx, a, b)
				wrote := make(chan error, 1)
				go func() {
					_, err := test.lane(e.host).Write(make([]byte, 3*test.size)) // both ends keep a window
					wrote <- err
				}()
				time.Sleep(time.Minute) //nolint:forbidigo // on the clock of synctest
				if len(wrote) > 0 {
					t.Error("more was written than the windows hold")
				}
				if test.again {
					cut()
					wait()
				}
				rest := make([]byte, test.size)
				if _, err := io.ReadFull(test.lane(e.inside), rest); err != nil {
					t.Fatal(err)
				}
				if test.again {
					a, b = net.Pipe()
					wait = e.carry(context.Background(), a, b)
				}
				for range 2 {
					if _, err := io.ReadFull(test.lane(e.inside), rest); err != nil {
						t.Fatal(err)
					}
				}
				if err := <-wrote; err != nil {
					t.Error(err)
				}
				e.host.Close()
				wait()
				cut()
			})
		})
	}
}

// On a new carrier, an end says again what was read, because the last acknowledgement may be lost.
func TestNewCarrierIsToldWhatWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(NewID())
		p := newPeer(t, l)
		p.discard()
		p.frame(head{kind: frameData, length: 3}, 1, 2, 3)
		if _, err := io.ReadFull(l.Typed(), make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) //nolint:forbidigo // on the clock of synctest
		p.Close()
		<-p.result
		p = newPeer(t, l)
		b := make([]byte, 2*headSize)
		if _, err := io.ReadFull(p, b); err != nil {
			t.Fatal(err)
		}
		if h, err := parseHead(b[headSize:]); err != nil || h != (head{kind: frameAck, offset: 3}) {
			t.Errorf("behind the first beat, it was told %+v, %v", h, err)
		}
		l.Close()
		<-p.result
	})
}

// What one call writes stays together, however many goroutines write.
func TestWritesAreNotMixed(t *testing.T) {
	e := newEnds(t)
	a, b := net.Pipe()
	wait := e.carry(context.Background(), a, b)
	const writers, each = 4, 5
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			data := make([]byte, MaxData)
			for j := range data {
				data[j] = byte(i)
			}
			for range each {
				if err := WriteMessage(e.inside.Typed(), Message{Output, data}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range writers * each {
		m, err := ReadMessage(e.host.Typed())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Data {
			if c != m.Data[0] {
				t.Fatal("two messages were mixed")
			}
		}
	}
	writing.Wait()
	e.host.Close()
	wait()
}
