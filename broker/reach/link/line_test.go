package link

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// line simulates one direction of a line with a rate and a delay, before which bytes queue.
type line struct {
	rate  int           // bytes a second
	delay time.Duration // from one end to the other
	queue int           // bytes that may wait; a writer waits for room

	mu      sync.Mutex
	changed *sync.Cond
	packets []packet
	waiting int
	free    time.Time // when the line has sent what waits
	closed  bool
}

type packet struct {
	data []byte
	due  time.Time
}

func newLine(rate int, delay time.Duration, queue int) *line {
	l := &line{rate: rate, delay: delay, queue: queue}
	l.changed = sync.NewCond(&l.mu)
	return l
}

func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for part := range slices.Chunk(p, 1500) {
		for l.waiting >= l.queue && !l.closed {
			l.changed.Wait()
		}
		if l.closed {
			return 0, net.ErrClosed
		}
		if now := time.Now(); l.free.Before(now) {
			l.free = now
		}
		l.free = l.free.Add(time.Duration(len(part)) * time.Second / time.Duration(l.rate))
		l.packets = append(l.packets, packet{slices.Clone(part), l.free.Add(l.delay)})
		l.waiting += len(part)
		l.changed.Broadcast()
	}
	return len(p), nil
}

func (l *line) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.packets) == 0 && !l.closed {
		l.changed.Wait()
	}
	for !l.closed && time.Now().Before(l.packets[0].due) {
		due := l.packets[0].due
		l.mu.Unlock()
		time.Sleep(time.Until(due)) //nolint:forbidigo // on the clock of synctest
		l.mu.Lock()
	}
	if l.closed {
		return 0, io.EOF
	}
	first := &l.packets[0]
	n := copy(p, first.data)
	if first.data = first.data[n:]; len(first.data) == 0 {
		l.packets = l.packets[1:]
	}
	l.waiting -= n
	l.changed.Broadcast()
	return n, nil
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.changed.Broadcast()
}

// far is one end of a connection over two lines.
type far struct{ in, out *line }

func (f far) Read(p []byte) (int, error)  { return f.in.Read(p) }
func (f far) Write(p []byte) (int, error) { return f.out.Write(p) }
func (f far) Close() error                { f.in.close(); f.out.close(); return nil }

// overLine runs f in a synctest bubble, over a link with a round trip of 150 ms.
func overLine(t *testing.T, rate int, f func(t *testing.T, e *ends)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t)
		up, down := newLine(rate, 75*time.Millisecond, 16<<20), newLine(rate, 75*time.Millisecond, 16<<20)
		wait := e.carry(context.Background(), far{down, up}, far{up, down})
		f(t, e)
		e.host.Close()
		e.inside.Close()
		wait()
	})
}

// upload writes to bulk and reads it at the other end until the link ends.
func upload(from, to *Link) (came func() int, wait func()) {
	var both sync.WaitGroup
	var mu sync.Mutex
	total := 0
	both.Go(func() {
		block := make([]byte, 16<<10)
		for {
			if _, err := from.Bulk().Write(block); err != nil {
				return
			}
		}
	})
	both.Go(func() {
		b := make([]byte, 64<<10)
		for {
			n, err := to.Bulk().Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			total += n
			mu.Unlock()
		}
	})
	return func() int { mu.Lock(); defer mu.Unlock(); return total }, both.Wait
}

// At 10 Mbit/s and 150 ms, a key and its echo take at most 1.6 round trips beside an upload that
// uses most of the line.
func TestKeysDoNotWaitBehindAnUpload(t *testing.T) {
	const rate = 10_000_000 / 8
	overLine(t, rate, func(t *testing.T, e *ends) {
		t.Helper()
		came, wait := upload(e.host, e.inside)
		go echo(e.inside.Typed())
		time.Sleep(20 * time.Second) //nolint:forbidigo // on the clock of synctest
		before, began := came(), time.Now()
		var took []time.Duration
		for range 100 {
			time.Sleep(70 * time.Millisecond) //nolint:forbidigo // on the clock of synctest
			pressed := time.Now()
			if _, err := e.host.Typed().Write([]byte("k")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(e.host.Typed(), make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(pressed))
		}
		slices.Sort(took)
		speed := float64(came()-before) / time.Since(began).Seconds()
		t.Logf("echo p50 %v, p95 %v; bulk %.0f kB/s of %d; round trip %v", took[50], took[95], speed/1e3, rate/1000, e.host.RTT())
		if took[50] > 240*time.Millisecond {
			t.Errorf("half of the echoes take %v or more", took[50])
		}
		if speed < 0.7*rate {
			t.Errorf("bulk is carried at %.0f bytes a second of %d", speed, rate)
		}
		e.host.Close()
		e.inside.Close()
		wait()
	})
}

// On an idle line, the bytes in flight grow until they fill it.
func TestBulkFillsALongFreeLine(t *testing.T) {
	overLine(t, 100_000_000, func(t *testing.T, e *ends) {
		t.Helper()
		came, wait := upload(e.host, e.inside)
		time.Sleep(5 * time.Second) //nolint:forbidigo // on the clock of synctest
		before := came()
		time.Sleep(5 * time.Second) //nolint:forbidigo // on the clock of synctest
		speed := float64(came()-before) / 5
		t.Logf("bulk %.1f MB/s", speed/1e6)
		if speed < 10e6 {
			t.Errorf("bulk is carried at %.0f bytes a second", speed)
		}
		e.host.Close()
		e.inside.Close()
		wait()
	})
}
