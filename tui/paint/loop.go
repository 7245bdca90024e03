package paint

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// Interval is the time between frames under flood: 120 a second.
	Interval = time.Second / 120
	// quiet is how long there must have been no wake-up for a frame to be painted at
	// once. Keys come slower than this, floods faster.
	quiet = 2 * time.Millisecond
	// smallFrame is the size in bytes up to which Show writes a frame itself, and
	// up to which the next frame need not wait for the Interval.
	smallFrame = 1024
)

// Loop paints frames when it is woken: at once if there was no wake-up just before, at
// most one per Interval under flood. It owns the canvas and the painter while it runs.
// Run paints on its own goroutine. Show paints on the caller's, so that an echoed key
// need not wait for another goroutine.
type Loop struct {
	out     io.Writer
	quick   QuickWriter // out, if it is one
	ready   func() bool
	painter *Painter
	draw    func() *Canvas
	due     chan struct{} // lossy, bound 1: tells Run that there is work

	mu        sync.Mutex // never held while drawing or writing
	pace      pace
	scheduled bool // Run will paint, as soon as pace allows
	err       error

	painting sync.Mutex // held from drawing until the frame is written
	unsent   []byte     // a frame that Show drew and has not written
	begun    bool       // out keeps the rest of a frame of which Show has written a part
}

// QuickWriter is an output that can write a frame without waiting. Show writes only to such
// an output.
type QuickWriter interface {
	// TryWrite writes as much of a frame as it can without waiting and returns the number of
	// bytes. If it has written a part of the frame, it keeps the rest, and the next Write, even
	// of no bytes, writes that first.
	TryWrite(frame []byte) (n int, err error)
}

// Awaiter is an output that may be slow to show what was written. Run waits for it
// before drawing, so that the frame includes what happened meanwhile.
type Awaiter interface {
	// Await waits, for a bounded time, until another frame is useful.
	Await()
}

// NewLoop makes a loop that calls draw for the picture and writes each frame to out in
// one Write. ready reports whether out takes a small frame without blocking; nil means
// never. draw runs on one goroutine at a time, which may be any that calls Show. It may
// return the same canvas every time, or nil if nothing changed.
func NewLoop(out io.Writer, ready func() bool, painter *Painter, draw func() *Canvas) *Loop {
	if ready == nil {
		ready = func() bool { return false }
	}
	quick, _ := out.(QuickWriter)
	return &Loop{out: out, quick: quick, ready: ready, painter: painter, draw: draw, due: make(chan struct{}, 1)}
}

// Wake tells the loop that the picture may have changed. It never blocks, and many calls
// before the next frame count as one. It is safe for concurrent use.
func (l *Loop) Wake() {
	l.mu.Lock()
	early, scheduled := l.woken(), l.scheduled
	l.scheduled = true
	l.mu.Unlock()
	if !early || !scheduled {
		l.signal()
	}
}

// woken records a wake-up and reports whether it is too early for a frame. It does not
// record a wake-up while a frame is scheduled that may be painted now. The caller holds
// mu.
func (l *Loop) woken() (early bool) {
	now := time.Now()
	if !l.scheduled || l.pace.wait(now) > 0 {
		l.pace.woken(now)
	}
	return l.pace.wait(now) > 0
}

// Show is Wake for a goroutine that has time to paint a frame itself. It paints if there
// was no wake-up just before and out is ready; otherwise Run does. It reports whether it
// has painted. It is safe for concurrent use.
func (l *Loop) Show() bool {
	l.mu.Lock()
	early, scheduled := l.woken(), l.scheduled
	mine := !early && l.painting.TryLock()
	l.mu.Unlock()
	if mine {
		if shown, able := l.paintQuickly(); able {
			return shown
		}
	} else if early && scheduled {
		return false
	}
	l.schedule()
	return false
}

// schedule makes Run paint as soon as pace allows.
func (l *Loop) schedule() {
	l.mu.Lock()
	l.scheduled = true
	l.mu.Unlock()
	l.signal()
}

// signal tells Run that there is work.
func (l *Loop) signal() {
	select {
	case l.due <- struct{}{}:
	default:
	}
}

// Run paints until ctx ends, which is no error, or a write fails.
func (l *Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.due:
		}
		l.exclusively(l.send)
		if l.await(ctx, timer) {
			if a, far := l.out.(Awaiter); far {
				a.Await()
			}
			l.exclusively(l.paint)
		}
		l.mu.Lock()
		err := l.err
		l.mu.Unlock()
		if err != nil {
			return fmt.Errorf("paint: %w", err)
		}
	}
}

// exclusively calls f while no other goroutine paints. A panic in f leaves nothing locked.
func (l *Loop) exclusively(f func()) {
	l.painting.Lock()
	defer l.painting.Unlock()
	f()
}

// await waits until the scheduled frame may be painted. It returns false when none is
// scheduled or ctx ends. Changes in the meantime will be in that frame.
func (l *Loop) await(ctx context.Context, timer *time.Timer) bool {
	for {
		l.mu.Lock()
		scheduled, wait := l.scheduled, l.pace.wait(time.Now())
		if wait <= 0 {
			l.scheduled = false
		}
		l.mu.Unlock()
		if !scheduled || wait <= 0 {
			return scheduled
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		case <-l.due:
		}
	}
}

// paint draws one frame and writes it. The caller holds painting.
func (l *Loop) paint() {
	l.send()
	if canvas := l.draw(); canvas != nil {
		l.unsent = l.painter.Paint(canvas)
	}
	if len(l.unsent) == 0 {
		l.painted(0, nil)
	}
	l.send()
}

// paintQuickly draws one frame and writes it without waiting. able reports whether it could draw
// the frame, and shown whether it has written all of it; Run writes the rest. The caller holds
// painting; paintQuickly unlocks it, also after a panic.
func (l *Loop) paintQuickly() (shown, able bool) {
	defer l.painting.Unlock()
	if l.quick == nil || len(l.unsent) > 0 || l.begun || !l.ready() {
		return false, false
	}
	if canvas := l.draw(); canvas != nil {
		l.unsent = l.painter.Paint(canvas)
	}
	size := len(l.unsent)
	if size == 0 {
		l.painted(0, nil)
		return true, true
	}
	if size > smallFrame {
		l.signal()
		return false, true
	}
	n, err := l.quick.TryWrite(l.unsent)
	if n > 0 || err != nil {
		l.unsent = nil
		l.painted(n, err)
	}
	l.begun = n > 0 && n < size
	if n < size {
		l.signal()
	}
	return n == size, true
}

// send writes the unwritten rest of the last frame. The caller holds painting.
func (l *Loop) send() {
	if len(l.unsent) == 0 && !l.begun {
		return
	}
	n, err := l.out.Write(l.unsent)
	l.unsent, l.begun = nil, false
	l.painted(n, err)
}

// painted records a frame of n bytes and the error of writing it.
func (l *Loop) painted(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pace.painted(time.Now(), n)
	if err != nil {
		l.err = err
		l.signal()
	}
}

// pace decides how long a frame must wait.
type pace struct {
	last  time.Time // when the last frame was written; zero before the first
	size  int       // of that frame, in bytes
	wake  time.Time // the last wake-up
	quiet bool      // there was no wake-up for a time of quiet before it
}

// woken records a wake-up.
func (p *pace) woken(now time.Time) {
	p.quiet = now.Sub(p.wake) >= quiet
	p.wake = now
}

// wait returns how long from now the next frame must wait.
func (p *pace) wait(now time.Time) time.Duration {
	since := now.Sub(p.last)
	if p.last.IsZero() || since >= Interval || p.quiet && p.size <= smallFrame {
		return 0
	}
	return Interval - since
}

// painted records a frame of n bytes. An empty frame does not count.
func (p *pace) painted(now time.Time, n int) {
	if n > 0 {
		p.last, p.size = now, n
	}
	p.quiet = false
}
