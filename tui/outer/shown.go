package outer

import (
	"slices"
	"time"
)

// WhenShown sends a probe after everything written so far, and calls shown once: with the time of
// the answer or, if there is none for answerTimeout, with the time of this call. WhenShown does not
// wait, and shown must not wait either. While another program has the terminal, WhenShown does
// nothing.
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
	t.flow.whenAnswered(now, shown)
	if len(t.rest) > 0 {
		t.rest = append(t.rest, probeText...)
	} else if n := t.quick.write([]byte(probeText)); n < len(probeText) {
		t.rest = []byte(probeText[n:])
	}
}

// answerWait is a function that waits for the answer to a probe.
type answerWait struct {
	number uint64 // of the probe
	shown  func(at time.Time)
	limit  *time.Timer // ends the wait
}

// whenAnswered records a probe that is sent now, and calls shown once: with the time of its answer
// or, if there is none for answerTimeout, with now. An answer to an earlier probe does not count.
func (f *flow) whenAnswered(now time.Time, shown func(at time.Time)) {
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
		f.waiting = slices.DeleteFunc(f.waiting, func(w answerWait) bool { return w.number == number })
		waits -= len(f.waiting)
		f.mu.Unlock()
		if waits > 0 {
			shown(now)
		}
	})
	f.waiting = append(f.waiting, answerWait{number, shown, limit})
}

// takeAnswered counts one more answer, and removes and returns the waits that it ends. The caller
// holds the mutex.
func (f *flow) takeAnswered() (ended []answerWait) {
	f.got = min(f.got+1, f.sent)
	for len(f.waiting) > 0 && f.waiting[0].number <= f.got {
		ended = append(ended, f.waiting[0])
		f.waiting = f.waiting[1:]
	}
	return ended
}
