package pane

import (
	"context"
	"testing"
	"time"
)

// Output of hidden panes is handled at once while nobody types. It waits for the echo of
// a key, and pauses between its pieces as long as keys come.
func TestPriority(t *testing.T) {
	var priority Priority
	const hour = time.Hour // a wait that the test would notice
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
	quick("nobody types", func() bool { return priority.yield(ctx) && priority.pause(ctx, hour) })

	priority.keyTyped()
	begin := time.Now()
	priority.typed.Add(int64(hour)) // however long this test is held up here
	if !priority.pause(ctx, 3*time.Millisecond) || time.Since(begin) < 3*time.Millisecond {
		t.Errorf("it paused for %v", time.Since(begin))
	}
	quick("a piece that took long", func() bool { return priority.pause(ctx, hour) })
	priority.keyTyped()
	priority.EchoPainted()
	quick("the echo is painted", func() bool { return priority.yield(ctx) })
	priority.typed.Store(int64(time.Since(began) - typingPause - 1))
	quick("the last key is long ago", func() bool { return priority.pause(ctx, hour) })

	priority.keyTyped()
	cancel()
	if priority.pause(ctx, hour) {
		t.Error("it goes on after its context has ended")
	}
}
