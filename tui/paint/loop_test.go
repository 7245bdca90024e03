package paint

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink collects frames and when they were written.
type sink struct {
	frames []string
	at     []time.Time
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	s.frames = append(s.frames, string(p))
	s.at = append(s.at, time.Now())
	return len(p), s.err
}

// flood runs a loop whose picture changes at every tick, by size characters.
func flood(t *testing.T, tick time.Duration, ticks, size int) *sink {
	t.Helper()
	out := new(sink)
	synctest.Test(t, func(t *testing.T) {
		canvas, n := NewCanvas(80, 24), 0
		loop := NewLoop(out, nil, NewPainter(Options{}), func() *Canvas {
			canvas.text(0, 0, term.Style{}, strings.Repeat(string(rune('a'+n%26)), size))
			for y := 1; y < size/80; y++ {
				canvas.text(0, y, term.Style{}, strings.Repeat(string(rune('a'+n%26)), 80))
			}
			n++
			return canvas
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- loop.Run(ctx) }()
		ticker := time.NewTicker(tick)
		for range ticks {
			<-ticker.C
			loop.Wake()
			loop.Wake()
		}
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("a loop that was told to stop: %v", err)
		}
	})
	return out
}

func TestLoopPaintsKeysAtOnce(t *testing.T) {
	const keys = 200
	out := flood(t, 3*time.Millisecond, keys, 1)
	if len(out.frames) != keys {
		t.Fatalf("%d frames for %d keys", len(out.frames), keys)
	}
	for i := 1; i < keys; i++ {
		if d := out.at[i].Sub(out.at[i-1]); d != 3*time.Millisecond && i > 1 {
			t.Fatalf("key %d was painted %v after the one before", i, d)
		}
	}
}

func TestLoopCoalescesAFlood(t *testing.T) {
	for _, tt := range []struct {
		name string
		tick time.Duration
		size int
	}{{"small changes", 100 * time.Microsecond, 1}, {"large frames", 3 * time.Millisecond, 1920}} {
		t.Run(tt.name, func(t *testing.T) {
			ticks := int(time.Second / tt.tick)
			if n := len(flood(t, tt.tick, ticks, tt.size).frames); n < 60 || n > 122 {
				t.Errorf("%s: %d frames in a second, want at most 120", tt.name, n)
			}
		})
	}
}

func TestLoopReportsAFailedWrite(t *testing.T) {
	gone := errors.New("gone")
	canvas := NewCanvas(10, 2)
	loop := NewLoop(&sink{err: gone}, nil, NewPainter(Options{}), func() *Canvas { return canvas })
	loop.Wake()
	if err := loop.Run(t.Context()); !errors.Is(err, gone) {
		t.Errorf("got %v, want the write's error", err)
	}
}

// quickSink accepts a number of bytes without waiting.
type quickSink struct {
	sink
	room int
	rest string
}

func (s *quickSink) TryWrite(p []byte) (int, error) {
	n := min(s.room, len(p))
	s.room -= n
	if n > 0 {
		s.frames, s.rest = append(s.frames, string(p[:n])), string(p[n:])
	}
	return n, nil
}

func (s *quickSink) Write(p []byte) (int, error) {
	s.frames, s.rest = append(s.frames, s.rest+string(p)), ""
	return len(p), nil
}

// Show writes what the output accepts without waiting, and Run writes the rest, or the whole frame.
func TestShowWaitsForNoOutput(t *testing.T) {
	for room, want := range map[int]bool{1000: true, 3: false, 0: false} {
		synctest.Test(t, func(t *testing.T) {
			canvas := NewCanvas(20, 2)
			out := &quickSink{room: 1 << 20}
			loop := NewLoop(out, func() bool { return true }, NewPainter(Options{}), func() *Canvas { return canvas })
			loop.Show()
			time.Sleep(time.Second) //nolint:forbidigo // on the clock of synctest
			out.frames, out.room = nil, room
			canvas.text(0, 0, term.Style{}, "hello")
			if shown := loop.Show(); shown != want {
				t.Errorf("with room for %d: shown %v", room, shown)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- loop.Run(ctx) }()
			synctest.Wait()
			cancel()
			<-done
			if all := strings.Join(out.frames, ""); strings.Count(all, "hello") != 1 || out.rest != "" {
				t.Errorf("with room for %d: written %q, left %q", room, out.frames, out.rest)
			}
		})
	}
}

// A panic while a frame is drawn, in either goroutine, leaves no lock held.
func TestAPanicWhileDrawingLocksNothing(t *testing.T) {
	draw := func() *Canvas { panic("drawn wrongly") }
	loop := NewLoop(&quickSink{}, func() bool { return true }, NewPainter(Options{}), draw)
	panics := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	if p := panics(func() { loop.Show() }); p != "drawn wrongly" {
		t.Errorf("Show: %v", p)
	}
	if p := panics(func() { loop.Wake(); _ = loop.Run(t.Context()) }); p != "drawn wrongly" {
		t.Errorf("Run: %v", p)
	}
	if !loop.painting.TryLock() {
		t.Error("whoever paints next waits for ever")
	}
}
