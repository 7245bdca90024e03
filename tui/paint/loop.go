package paint

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

const (
	// Interval is the time between frames under flood: 120 a second.
	Interval = time.Second / 120
	// quiet is how long the loop must not have been woken for a frame to be
	// painted at once. Keys come slower than this, floods do not.
	quiet = 2 * time.Millisecond
	// smallFrame is the size in bytes of a frame that may be followed by
	// another before its Interval has passed, and that whoever brought the
	// change writes itself.
	smallFrame = 1024
)

// Loop paints frames when it is woken: at once when the line was quiet, at most
// one per Interval under flood. It owns the canvas and the painter while it
// runs. There are two ways to paint: Run does it on its own goroutine, and Show
// on the caller's, which spares an echoed key the way through the scheduler.
type Loop struct {
	out     io.Writer
	ready   func() bool
	painter *Painter
	draw    func() *Canvas
	due     chan struct{} // lossy, bound 1: Run has something to do

	mu        sync.Mutex // never held while drawing or writing
	pace      pace
	scheduled bool // Run will paint, now or when the pace lets it
	err       error

	painting sync.Mutex // held from drawing until the frame is written
	unsent   []byte     // a frame too large to be written by whoever drew it
}

// Awaiter is an out that may be behind with what was written. Run lets it catch up
// before it draws, so that the frame shows what has happened meanwhile.
type Awaiter interface {
	// Await waits, for a bounded time, until another frame is of use.
	Await()
}

// NewLoop makes a loop that asks draw for the picture and writes each frame to
// out in one Write. ready says that out takes a small frame without waiting; nil
// is for never. draw runs on one goroutine at a time, which may be any that
// calls Show; it may return the same canvas every time, and nil for "as it was".
func NewLoop(out io.Writer, ready func() bool, painter *Painter, draw func() *Canvas) *Loop {
	if ready == nil {
		ready = func() bool { return false }
	}
	return &Loop{out: out, ready: ready, painter: painter, draw: draw, due: make(chan struct{}, 1)}
}

// Wake says that the picture may have changed. It never blocks, and many calls
// before the next frame are one. It is safe for concurrent use.
func (l *Loop) Wake() {
	l.mu.Lock()
	early, scheduled := l.woken(), l.scheduled
	l.scheduled = true
	l.mu.Unlock()
	if !early || !scheduled {
		l.signal()
	}
}

// woken notes a wake-up and reports whether it is too early for a frame. When
// one is due already, it is not the first of a flood. The caller holds mu.
func (l *Loop) woken() (early bool) {
	now := time.Now()
	if !l.scheduled || l.pace.wait(now) > 0 {
		l.pace.woken(now)
	}
	return l.pace.wait(now) > 0
}

// Show is Wake for a goroutine that can afford to paint a frame itself, and does
// when the line was quiet and the terminal takes the frame. It reports whether
// the picture is on its way to the terminal. It is safe for concurrent use.
func (l *Loop) Show() bool {
	l.mu.Lock()
	early, scheduled := l.woken(), l.scheduled
	mine := !early && l.painting.TryLock()
	l.mu.Unlock()
	if mine {
		able := len(l.unsent) == 0 && l.ready()
		shown := able && l.paint(smallFrame)
		l.painting.Unlock()
		if able {
			return shown
		}
	} else if early && scheduled {
		return false
	}
	l.schedule()
	return false
}

// schedule has Run paint as soon as the pace lets it.
func (l *Loop) schedule() {
	l.mu.Lock()
	l.scheduled = true
	l.mu.Unlock()
	l.signal()
}

// signal gives Run something to do.
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
		l.painting.Lock()
		l.send()
		l.painting.Unlock()
		if l.await(ctx, timer) {
			if a, far := l.out.(Awaiter); far {
				a.Await()
			}
			l.painting.Lock()
			l.paint(math.MaxInt)
			l.painting.Unlock()
		}
		l.mu.Lock()
		err := l.err
		l.mu.Unlock()
		if err != nil {
			return fmt.Errorf("paint: %w", err)
		}
	}
}

// await waits until the frame that is scheduled may be painted, and reports
// whether there is one: false when there is none, or when ctx ends. What comes in
// the meantime will be in that frame.
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

// paint draws one frame and writes it, unless it is longer than limit: then Run
// is told to, and paint reports false. The caller holds painting.
func (l *Loop) paint(limit int) bool {
	l.send()
	canvas := l.draw()
	if canvas == nil {
		l.painted(0, nil)
		return true
	}
	l.unsent = l.painter.Paint(canvas)
	if len(l.unsent) > limit {
		l.signal()
		return false
	}
	if len(l.unsent) == 0 {
		l.painted(0, nil)
	}
	l.send()
	return true
}

// send writes the frame that waits to be written. The caller holds painting.
func (l *Loop) send() {
	if len(l.unsent) == 0 {
		return
	}
	n, err := l.out.Write(l.unsent)
	l.unsent = nil
	l.painted(n, err)
}

// painted notes a frame of n bytes and whether it could be written.
func (l *Loop) painted(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pace.painted(time.Now(), n)
	if err != nil {
		l.err = err
		l.signal()
	}
}

// pace decides how long a frame has to wait.
type pace struct {
	last  time.Time // when the last frame was written; zero before the first
	size  int       // of that frame, in bytes
	wake  time.Time // the last wake-up
	quiet bool      // whether the line had been quiet before it
}

// woken notes a wake-up.
func (p *pace) woken(now time.Time) {
	p.quiet = now.Sub(p.wake) >= quiet
	p.wake = now
}

// wait is how long from now the next frame has to wait.
func (p *pace) wait(now time.Time) time.Duration {
	since := now.Sub(p.last)
	if p.last.IsZero() || since >= Interval || p.quiet && p.size <= smallFrame {
		return 0
	}
	return Interval - since
}

// painted notes a frame of n bytes; one of none is none.
func (p *pace) painted(now time.Time, n int) {
	if n > 0 {
		p.last, p.size = now, n
	}
	p.quiet = false
}
