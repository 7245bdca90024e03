package broker

import "testing"

func TestStateFollowsWhatIsUnderWay(t *testing.T) {
	var tl tally
	for _, step := range []struct {
		name   string
		change func(*tally)
		want   SessionState
	}{
		{"new", func(*tally) {}, StateStarting},
		{"running", func(t *tally) { t.running = true }, StateStarting},
		{"connected", func(t *tally) { t.connected = true }, StateIdle},
		{"model asked", func(t *tally) { t.requests++ }, StateWorking},
		{"tool called", func(t *tally) { t.calls++ }, StateWorking},
		{"call waits", func(t *tally) { t.waiting = 1 }, StateWaiting},
		{"model answered", func(t *tally) { t.requests-- }, StateWaiting},
		{"decided", func(t *tally) { t.waiting = 0 }, StateWorking},
		{"answered", func(t *tally) { t.calls-- }, StateIdle},
		{"ended", func(t *tally) { t.dead = true }, StateDead},
		{"closed", func(t *tally) { t.closed = true }, StateClosed},
	} {
		before := tl.state()
		got, after := tl.update(step.change)
		if got != before || after != step.want {
			t.Errorf("%s: from %s to %s, want %s", step.name, got, after, step.want)
		}
	}
}
