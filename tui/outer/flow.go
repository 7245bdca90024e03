package outer

import (
	"bytes"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

const (
	// probeText asks the terminal for its status. The terminal answers after it has
	// processed everything written before.
	probeText   = "\x1b[5n"
	probeAnswer = "\x1b[0n"

	probeEvery = 2 << 10 // bytes between two probes
	minWindow  = 8 << 10
	maxWindow  = 1 << 20

	// answerTimeout is how long to wait for an answer. After that, frames are sent
	// without waiting for answers.
	answerTimeout = 2 * time.Second
	// drainLimit is how long to wait for pending answers before the terminal is given
	// to another program, which would read them as typed input.
	drainLimit = time.Second
)

// flow bounds the bytes that were sent to the terminal and are not shown yet. The
// connection to a remote terminal may have large buffers, and frames queued there would
// delay the echo of the next key. So flow sends a probe every few bytes, and holds back
// frames while more bytes than a window are unanswered. The window is the connection's
// bandwidth-delay product, measured from the answers: the shortest time that an answer
// takes, times the rate of answered bytes.
type flow struct {
	mu       sync.Mutex
	flying   []probe // not answered yet, oldest first
	unprobed int     // bytes since the last probe
	last     int     // bytes of the last frame
	window   int     // bytes
	answers  bool    // the terminal answers

	passed   int           // bytes that have been answered
	rate     float64       // bytes a second, the best recent rate
	best     time.Duration // the shortest time of an answer, in this period
	former   time.Duration // the shortest time in the period before
	since    time.Time     // when this period began
	emptying bool          // no frame is sent until nothing is in flight, to measure the time of an answer

	sent    uint64       // probes
	got     uint64       // answers, which come in the order of the probes
	waiting []answerWait // in the order of the probes

	landed chan struct{} // capacity 1, lossy: a probe was answered
	over   chan struct{} // closed when nothing more is written
	once   sync.Once
}

// period is how long the shortest time of an answer is used. After that it is measured
// again, because the connection to the terminal may have changed.
const period = 30 * time.Second

// probe is one request for the status and the bytes since the last one.
type probe struct {
	at     time.Time
	bytes  int
	passed int // bytes that had been answered when the probe was sent
}

func newFlow() *flow {
	return &flow{window: 2 * minWindow, landed: make(chan struct{}, 1), over: make(chan struct{})}
}

// end makes all calls of await return.
func (f *flow) end() { f.once.Do(func() { close(f.over) }) }

// inFlight returns how many bytes and how many probes are not answered yet.
func (f *flow) inFlight() (bytes, probes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.flying {
		bytes += p.bytes
	}
	return bytes, len(f.flying)
}

// open reports whether another frame may be sent, that is, whether the window has room
// for a frame of the last one's size.
func (f *flow) open() bool {
	flying, _ := f.inFlight()
	f.mu.Lock()
	defer f.mu.Unlock()
	if flying == 0 {
		f.emptying = false
	}
	return !f.answers || flying == 0 || !f.emptying && flying+f.unprobed+f.last <= f.window
}

// await waits until another frame may be sent.
func (f *flow) await() {
	if f.open() {
		return
	}
	timer := time.NewTimer(answerTimeout)
	defer timer.Stop()
	for !f.open() {
		select {
		case <-f.landed:
		case <-f.over:
			return
		case <-timer.C:
			f.mu.Lock()
			f.flying, f.answers = nil, false // do not wait again until the next answer
			f.mu.Unlock()
			return
		}
	}
}

// begin records a probe that finds out whether the terminal answers. Earlier probes no
// longer count.
func (f *flow) begin(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flying, f.unprobed, f.answers = []probe{{at: now, passed: f.passed}}, 0, false
	f.best, f.former, f.since = 0, 0, now
	for _, w := range f.waiting { // the frames that they wait for are no longer on the screen
		w.limit.Stop()
	}
	f.waiting, f.got = nil, f.sent
	f.sent++
}

// sending records n bytes that are sent now, and reports whether to send a probe after
// them.
func (f *flow) sending(n int, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unprobed += n
	f.last = n
	if !f.answers || f.unprobed < probeEvery {
		return false
	}
	f.flying = append(f.flying, probe{now, f.unprobed, f.passed})
	f.unprobed = 0
	f.sent++
	return true
}

// answered records the answer to the oldest probe, and calls the functions that wait for it.
func (f *flow) answered(now time.Time) {
	f.mu.Lock()
	shown := f.takeAnswered()
	if len(f.flying) > 0 {
		p := f.flying[0]
		f.flying = f.flying[1:]
		f.learn(p, now)
	}
	f.answers = true
	f.mu.Unlock()
	for _, w := range shown {
		w.limit.Stop()
		w.shown(now)
	}
	select {
	case f.landed <- struct{}{}:
	default:
	}
}

// learn updates the window from the answer to a probe.
func (f *flow) learn(p probe, now time.Time) {
	took := max(now.Sub(p.at), time.Microsecond)
	if f.best == 0 || took < f.best {
		f.best = took
	}
	if now.Sub(f.since) > period {
		f.former, f.best, f.since, f.emptying = f.best, took, now, true
	}
	f.passed += p.bytes
	f.rate = max(f.rate*15/16, float64(f.passed-p.passed)/took.Seconds())
	shortest := f.best
	if f.former != 0 {
		shortest = min(shortest, f.former)
	}
	f.window = min(maxWindow, max(minWindow, int(1.25*f.rate*shortest.Seconds())+probeEvery))
}

// filter removes the answers to probes from a batch of events and records them.
func (f *flow) filter(batch []keys.Event) []keys.Event {
	kept := batch[:0]
	for _, ev := range batch {
		if r := ev.Reply; ev.Kind == keys.ReplyEvent && r.Kind == keys.ReplyStatus && len(r.Params) == 1 && r.Params[0] == 0 {
			f.answered(time.Now())
			continue
		}
		kept = append(kept, ev)
	}
	return kept
}

// awaitAnswers waits until all probes are answered, for at most drainLimit. Another
// goroutine must read the terminal meanwhile.
func (f *flow) awaitAnswers() {
	timer := time.NewTimer(drainLimit)
	defer timer.Stop()
	for f.expected() {
		select {
		case <-f.landed:
		case <-timer.C:
			return
		}
	}
}

// expected reports whether answers are pending.
func (f *flow) expected() bool {
	_, probes := f.inFlight()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answers && probes > 0
}

// drain is awaitAnswers for a terminal that no other goroutine reads: it reads the
// answers itself and drops all other input.
func (f *flow) drain(fd int) {
	deadline := time.Now().Add(drainLimit)
	buf := make([]byte, 4096)
	var tail []byte // the end of the last read, which may be part of an answer
	for f.expected() {
		left := time.Until(deadline)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(0, min(left, 20*time.Millisecond))/time.Millisecond)) // a negative time would wait for ever
		if left <= 0 || err != nil && err != unix.EINTR || n > 0 && fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		if n <= 0 {
			continue // another goroutine may have read the answer
		}
		if n, err = unix.Read(fd, buf); n <= 0 || err != nil {
			return
		}
		tail = append(tail, buf[:n]...)
		for range bytes.Count(tail, []byte(probeAnswer)) {
			f.answered(time.Now())
		}
		if at := bytes.LastIndexByte(tail, 0x1b); at >= 0 && len(tail)-at < len(probeAnswer) {
			tail = tail[at:]
		} else {
			tail = nil
		}
	}
}
