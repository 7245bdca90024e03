package pressure

import (
	"runtime/debug"
	"testing"
)

// The collector runs more often while much is kept, and as before afterwards.
func TestPressure(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	var l level
	usual := percent()
	for _, step := range []struct {
		add  int64
		want int
	}{{much, usual}, {1, frugal}, {1, frugal}, {-much / 2, frugal}, {-3, usual}, {3, usual}} {
		l.add(step.add)
		if got := percent(); got != step.want {
			t.Errorf("after %d more bytes: %d percent, want %d", step.add, got, step.want)
		}
	}
}
