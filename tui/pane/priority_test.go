package pane

import (
	"context"
	"testing"
	"time"
)

// Output that nobody sees goes on at once while nobody types, waits for the echo
// of a key, and rests between its pieces as long as keys come.
func TestRightOfWay(t *testing.T) {
	var way Priority
	const hour = time.Hour // what would be noticed
	quick := func(what string, step func() bool) {
		t.Helper()
		begin := time.Now()
		if !step() {
			t.Errorf("%s: ended", what)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s took %v", what, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	quick("nobody types", func() bool { return way.yield(ctx) && way.rest(ctx, hour) })

	way.keyTyped()
	begin := time.Now()
	way.typed.Add(int64(hour)) // however long this test is held up here
	if !way.rest(ctx, 3*time.Millisecond) || time.Since(begin) < 3*time.Millisecond {
		t.Errorf("it rested for %v", time.Since(begin))
	}
	quick("a piece that took long", func() bool { return way.rest(ctx, hour) })
	way.keyTyped()
	way.EchoPainted()
	quick("the echo is painted", func() bool { return way.yield(ctx) })
	way.typed.Store(int64(time.Since(began) - typingPause - 1))
	quick("the last key is long ago", func() bool { return way.rest(ctx, hour) })

	way.keyTyped()
	cancel()
	if way.rest(ctx, hour) {
		t.Error("it goes on after its end")
	}
}
