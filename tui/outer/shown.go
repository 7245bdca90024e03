package outer

import (
	"slices"
	"time"
)

// WhenShown asks the terminal for its status behind everything written so far, and calls shown
// once: with the time of the answer or, without one for answerTimeout, with the present time. It
// does not wait, and neither may shown. While another program has the terminal, it does nothing.
func (t *Terminal) WhenShown(shown func(at time.Time)) {
	now := time.Now()
	if !t.write.TryLock() {
		time.AfterFunc(answerTimeout, func() { shown(now) })
		return
	}
	defer t.write.Unlock()
	if t.lent || t.restored.Load() {
		return
	}
	t.flow.witness(now, shown)
	if len(t.rest) > 0 {
		t.rest = append(t.rest, probeText...)
	} else if n := t.quick.write([]byte(probeText)); n < len(probeText) {
		t.rest = []byte(probeText[n:])
	}
}

// witness is who wants to know when a probe is answered.
type witness struct {
	number uint64 // of the probe
	shown  func(at time.Time)
	limit  *time.Timer // when no answer is expected any more
}

// witness records a probe that is sent now, and calls shown once: with the time of its answer or,
// without one for answerTimeout, with now. An answer to an earlier probe does not count.
func (f *flow) witness(now time.Time, shown func(at time.Time)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answers {
		f.flying = append(f.flying, probe{now, f.unprobed, f.passed})
		f.unprobed = 0
	}
	f.sent++
	number := f.sent
	limit := time.AfterFunc(answerTimeout, func() {
		f.mu.Lock()
		waits := len(f.waiting)
		f.waiting = slices.DeleteFunc(f.waiting, func(w witness) bool { return w.number == number })
		waits -= len(f.waiting)
		f.mu.Unlock()
		if waits > 0 {
			shown(now)
		}
	})
	f.waiting = append(f.waiting, witness{number, shown, limit})
}

// takeShown notes one more answer, and returns who waits for it. The caller holds the mutex.
func (f *flow) takeShown() (shown []witness) {
	f.got = min(f.got+1, f.sent)
	for len(f.waiting) > 0 && f.waiting[0].number <= f.got {
		shown = append(shown, f.waiting[0])
		f.waiting = f.waiting[1:]
	}
	return shown
}
