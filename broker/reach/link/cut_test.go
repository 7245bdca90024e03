package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// cable is one end of a connection that breaks, for both ends, after a number of bytes were written
// to this one.
type cable struct {
	net.Conn
	left int
}

func (c *cable) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:c.left])
	c.left -= n
	c.Close()
	return n, io.ErrClosedPipe
}

// cut says when one carrier breaks.
type cut struct {
	Up, Down int  // bytes after which it breaks
	Replaced bool // the next one comes while it works, after a pause
	Pause    int  // milliseconds before the next one comes
}

// traffic is what is written to one lane of one end.
type traffic struct {
	Sizes []int // of the writes
	Reads int   // size of the reads
	Rest  int   // milliseconds that the reader rests after each read
}

// content returns the byte at an offset of a stream.
func content(stream, offset int) byte { return byte(offset ^ offset>>8*7 ^ offset>>16*13 ^ stream*101) }

// send writes the stream.
func (f traffic) send(stream int, w io.Writer) error {
	at := 0
	for _, n := range f.Sizes {
		b := make([]byte, n)
		for i := range b {
			b[i] = content(stream, at+i)
		}
		if m, err := w.Write(b); err != nil || m != n {
			return fmt.Errorf("stream %d: wrote %d of %d bytes: %w", stream, m, n, err)
		}
		at += n
	}
	return nil
}

// check reads the stream, and returns an error unless each byte is received once and in order.
func (f traffic) check(stream int, r io.Reader) error {
	total := 0
	for _, n := range f.Sizes {
		total += n
	}
	b := make([]byte, f.Reads)
	for at := 0; at < total; {
		n, err := r.Read(b)
		if err != nil {
			return fmt.Errorf("stream %d ends after %d of %d bytes: %w", stream, at, total, err)
		}
		for i, c := range b[:n] {
			if at+i >= total || c != content(stream, at+i) {
				return fmt.Errorf("stream %d: byte %d is wrong", stream, at+i)
			}
		}
		at += n
		time.Sleep(time.Duration(f.Rest) * time.Millisecond) //nolint:forbidigo // on the clock of synctest
	}
	return nil
}

// play sends the four streams of a link over carriers that are cut.
func play(cuts []cut, streams [4]traffic) error {
	host := New(NewID())
	inside := New(host.ID())
	lane := func(i int) (from, to io.ReadWriter) {
		ends := [2]*Link{host, inside}
		if i%2 == bulk {
			return ends[i/2].Bulk(), ends[1-i/2].Bulk()
		}
		return ends[i/2].Typed(), ends[1-i/2].Typed()
	}
	results := make(chan error, 2*len(streams))
	for i, f := range streams {
		from, to := lane(i)
		go func() { results <- f.send(i, from) }()
		go func() { results <- f.check(i, to) }()
	}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for _, c := range cuts {
			use(host, inside, c, &carrying)
			time.Sleep(time.Duration(c.Pause) * time.Millisecond) //nolint:forbidigo // on the clock of synctest
		}
		whole := cut{Up: math.MaxInt, Down: math.MaxInt}
		for !isClosed(host.Done()) { // one that was cut may come late and replace it
			use(host, inside, whole, &carrying)
		}
	})
	var wrong error
	for range cap(results) {
		wrong = errors.Join(wrong, <-results)
	}
	host.Close()
	inside.Close()
	carrying.Wait()
	return wrong
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// use gives both ends one carrier. It returns when that has broken, or at once if the next one is
// to replace it.
func use(host, inside *Link, c cut, carrying *sync.WaitGroup) {
	a, b := net.Pipe()
	up, down := &cable{a, c.Up}, &cable{b, c.Down}
	var both sync.WaitGroup
	both.Go(func() { _ = host.Carry(context.Background(), up, nil) })
	both.Go(func() {
		theirs, err := ReadHello(down)
		if err != nil {
			down.Close()
			return
		}
		_ = inside.Carry(context.Background(), down, &theirs)
	})
	if c.Replaced {
		carrying.Go(both.Wait)
		return
	}
	both.Wait()
}

// Every byte of both lanes is received once and in order, wherever carriers are cut.
func TestBytesComeOnceAndInOrderWhereverCarriersAreCut(t *testing.T) {
	amount := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 40<<10))
	cuts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cut {
		return cut{
			Up:       amount.Draw(t, "up"),
			Down:     amount.Draw(t, "down"),
			Replaced: rapid.Bool().Draw(t, "replaced"),
			Pause:    rapid.IntRange(0, 30).Draw(t, "pause"),
		}
	}), 0, 30)
	stream := rapid.Custom(func(t *rapid.T) traffic {
		return traffic{
			Sizes: rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 100<<10)), 0, 8).Draw(t, "sizes"),
			Reads: rapid.SampledFrom([]int{1, 100, 5000, 64 << 10}).Draw(t, "reads"),
			Rest:  rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "rest"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		c := cuts.Draw(rt, "cuts")
		var streams [4]traffic
		for i := range streams {
			streams[i] = stream.Draw(rt, fmt.Sprint("stream ", i))
		}
		var err error
		synctest.Test(t, func(*testing.T) { err = play(c, streams) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
