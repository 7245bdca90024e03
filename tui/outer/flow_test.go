package outer

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// way is a simulated network connection with its own clock.
type way struct {
	now     time.Time
	delay   time.Duration // there and back
	rate    int           // bytes a second
	free    time.Time     // when all that was sent has gone through
	answers []time.Time   // that are on their way back
}

// run sends the frames of a flood over the connection for some time. It returns how many
// bytes went through, and the most that were queued before it after a while.
func (w *way) run(f *flow, frame int, span time.Duration) (sent, queued int) {
	begin := w.now
	for end := w.now.Add(span); w.now.Before(end); w.now = w.now.Add(time.Millisecond) {
		for len(w.answers) > 0 && !w.answers[0].After(w.now) {
			f.answered(w.answers[0])
			w.answers = w.answers[1:]
		}
		if !f.open() {
			continue
		}
		if w.free.Before(w.now) {
			w.free = w.now
		}
		w.free = w.free.Add(time.Duration(frame) * time.Second / time.Duration(w.rate))
		sent += frame
		if f.sending(frame, w.now) {
			w.answers = append(w.answers, w.free.Add(w.delay))
		}
		if w.now.Sub(begin) > 5*time.Second {
			queued = max(queued, int(w.free.Sub(w.now).Seconds()*float64(w.rate)))
		}
	}
	return sent, queued
}

// Whatever the connection is like, flow keeps it busy and queues almost nothing before
// it.
func TestFlowFollowsTheWay(t *testing.T) {
	for _, tt := range []struct {
		delay time.Duration
		rate  int
		frame int
	}{
		{300 * time.Millisecond, 20_000, 900},
		{300 * time.Millisecond, 20_000, 5000},
		{100 * time.Millisecond, 100_000, 900},
		{600 * time.Millisecond, 5_000, 900},
		{30 * time.Millisecond, 1_000_000, 2000},
	} {
		f := newFlow()
		w := &way{now: time.Unix(0, 0), delay: tt.delay, rate: tt.rate}
		f.begin(w.now)
		w.answers = []time.Time{w.now.Add(tt.delay)}
		sent, queued := w.run(f, tt.frame, 100*time.Second)
		if share := float64(sent) / float64(100*tt.rate); share < 0.6 {
			t.Errorf("%+v: %.0f %% of the way is used", tt, 100*share)
		}
		if most := minWindow + 2*tt.frame + int(tt.delay.Seconds()*float64(tt.rate)); queued > most {
			t.Errorf("%+v: %d bytes wait, want at most %d", tt, queued, most)
		}
	}
}

// flow does not wait for a terminal that never answers.
func TestFlowWithoutAnswers(t *testing.T) {
	f := newFlow()
	now := time.Unix(0, 0)
	f.begin(now)
	for range 1000 {
		if !f.open() || f.sending(64<<10, now) {
			t.Fatal("it waits or asks")
		}
	}
	f.answered(now)
	f.sending(1<<20, now)
	if f.open() {
		t.Error("it does not wait although the terminal answers")
	}
	begin := time.Now()
	f.await() // the answer never comes
	if waited := time.Since(begin); waited < answerTimeout || !f.open() {
		t.Errorf("waited for %v", waited)
	}
}

// Answers that come while the terminal is given back are dropped, so that the next
// program does not read them as typed input.
func TestRestoreWaitsForAnswers(t *testing.T) {
	l := newLine(t)
	term := open(t, l)
	l.wait(t, probeText)
	l.send(t, probeAnswer[:2])
	go func() { _, _ = l.master.WriteString(probeAnswer[2:] + "abc") }()
	term.flow.mu.Lock()
	term.flow.answers = true // from before
	term.flow.mu.Unlock()
	if err := term.Restore(); err != nil {
		t.Fatal(err)
	}
	if term.flow.expected() {
		t.Error("an answer is still on its way")
	}
	fds := []unix.PollFd{{Fd: int32(l.slave.Fd()), Events: unix.POLLIN}}
	if n, _ := unix.Poll(fds, 0); n > 0 {
		t.Error("something is left to be read")
	}
}

// A frame counts as shown after the answer to the probe that was sent after it, or after
// answerTimeout. A late answer to an earlier probe does not count.
func TestWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlow()
		f.begin(time.Now())
		written := time.Now()
		var shown []time.Duration
		note := func(at time.Time) { shown = append(shown, at.Sub(written)) }
		want := func(when string, want ...time.Duration) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(shown, want) {
				t.Errorf("%s: shown after %v, want %v", when, shown, want)
			}
		}
		f.whenAnswered(time.Now(), note)
		time.Sleep(time.Second) //nolint:forbidigo // on the clock of synctest
		f.answered(time.Now())
		want("an answer to what was sent before")
		time.Sleep(time.Second / 2) //nolint:forbidigo // on the clock of synctest
		f.answered(time.Now())
		want("a late answer", 1500*time.Millisecond)
		shown, written = nil, time.Now()
		f.whenAnswered(written, note)
		time.Sleep(answerTimeout - time.Millisecond) //nolint:forbidigo // on the clock of synctest
		want("no answer yet")
		time.Sleep(2 * time.Millisecond) //nolint:forbidigo // on the clock of synctest
		want("no answer", 0)
		shown, written = nil, time.Now()
		f.whenAnswered(written, note)
		f.answered(time.Now())
		want("the answer that was given up")
		time.Sleep(time.Millisecond) //nolint:forbidigo // on the clock of synctest
		f.answered(time.Now())
		want("its own", time.Millisecond)
		f.answered(time.Now())
		f.whenAnswered(time.Now(), note)
		f.begin(time.Now())
		time.Sleep(2 * answerTimeout) //nolint:forbidigo // on the clock of synctest
		want("what another program has wiped off", time.Millisecond)
	})
}
