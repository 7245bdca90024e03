package paint

import (
	"context"
	"fmt"
	"io"
	"time"
)

const (
	// Interval is the time between frames under flood: 120 a second.
	Interval = time.Second / 120
	// quiet is how long the loop must not have been woken for a frame to be
	// painted at once. Keys come slower than this, floods do not.
	quiet = 2 * time.Millisecond
	// smallFrame is the size in bytes of a frame that may be followed by
	// another before its Interval has passed.
	smallFrame = 1024
)

// Loop paints frames when it is woken: at once when the line was quiet, at most
// one per Interval under flood. It owns the canvas and the painter while it
// runs.
type Loop struct {
	wake    chan struct{} // lossy, bound 1: a wake-up says "something", not what
	out     io.Writer
	painter *Painter
	draw    func() *Canvas
}

// NewLoop makes a loop that asks draw for the picture and writes each frame to
// out in one Write. draw runs on the loop's goroutine alone; it may return the
// same canvas every time, and nil for "as it was".
func NewLoop(out io.Writer, painter *Painter, draw func() *Canvas) *Loop {
	return &Loop{wake: make(chan struct{}, 1), out: out, painter: painter, draw: draw}
}

// Wake says that the picture may have changed. It never blocks, and many calls
// before the next frame are one. It is safe for concurrent use.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run paints until ctx ends, which is no error, or a write fails.
func (l *Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	pace := pace{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
			pace.woken(time.Now())
		}
		if !l.await(ctx, timer, &pace) {
			return nil
		}
		n, err := l.frame()
		if err != nil {
			return fmt.Errorf("paint: %w", err)
		}
		pace.painted(time.Now(), n)
	}
}

// await waits until the next frame may be painted, and reports whether it may:
// false when ctx ends. What comes in the meantime will be in that frame.
func (l *Loop) await(ctx context.Context, timer *time.Timer, pace *pace) bool {
	for {
		d := pace.wait(time.Now())
		if d <= 0 {
			return true
		}
		timer.Reset(d)
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-l.wake:
			pace.woken(time.Now())
		}
	}
}

// frame paints one frame and returns its size.
func (l *Loop) frame() (int, error) {
	canvas := l.draw()
	if canvas == nil {
		return 0, nil
	}
	frame := l.painter.Paint(canvas)
	if len(frame) == 0 {
		return 0, nil
	}
	return l.out.Write(frame)
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
