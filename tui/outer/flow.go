package outer

import (
	"bytes"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

const (
	// probeText asks the terminal for its status. It answers when it has come so
	// far: behind everything written before.
	probeText   = "\x1b[5n"
	probeAnswer = "\x1b[0n"

	probeEvery = 2 << 10 // bytes between two probes
	minWindow  = 8 << 10
	maxWindow  = 1 << 20

	// flowPatience is how long an answer is waited for before frames go out
	// without.
	flowPatience = 2 * time.Second
	// landing is the most that is waited for answers still on their way when the
	// terminal is given to somebody else, who would take them for typing.
	landing = time.Second
)

// flow bounds what is on its way to the terminal and not shown yet. A far
// terminal has long buffers in front of it; frames queued there would come before
// the echo of the next key. Every few bytes a probe is sent along, and no frame
// goes out while more than a window waits for the answers. The window is what the
// way holds, from what the answers tell: how long one takes when nothing is in
// front of it, and how many bytes come through in that time.
type flow struct {
	mu       sync.Mutex
	flying   []probe // not answered yet, oldest first
	unprobed int     // bytes since the last probe
	last     int     // bytes of the last frame
	window   int     // bytes
	answers  bool    // the terminal answers

	passed   int           // bytes that have been answered
	rate     float64       // bytes a second, the best of lately
	best     time.Duration // the shortest time of an answer, in this period
	former   time.Duration // in the period before
	since    time.Time     // when this period began
	emptying bool          // the way has to be empty for the time to be true

	landed chan struct{} // capacity 1, lossy: something was answered
	over   chan struct{} // closed when nothing is written any more
	once   sync.Once
}

// period is how long the shortest time of an answer is believed: the way to the
// terminal may become another.
const period = 30 * time.Second

// probe is one question and the bytes before it.
type probe struct {
	at     time.Time
	bytes  int
	passed int // bytes that had been answered when it was sent
}

func newFlow() *flow {
	return &flow{window: 2 * minWindow, landed: make(chan struct{}, 1), over: make(chan struct{})}
}

// end lets everybody go who waits.
func (f *flow) end() { f.once.Do(func() { close(f.over) }) }

// inFlight is how many bytes and how many probes are on their way.
func (f *flow) inFlight() (bytes, probes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.flying {
		bytes += p.bytes
	}
	return bytes, len(f.flying)
}

// open reports whether another frame may be sent: when there is room for one like
// the last.
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
	timer := time.NewTimer(flowPatience)
	defer timer.Stop()
	for !f.open() {
		select {
		case <-f.landed:
		case <-f.over:
			return
		case <-timer.C:
			f.mu.Lock()
			f.flying, f.answers = nil, false // until the next answer
			f.mu.Unlock()
			return
		}
	}
}

// begin notes that a probe is sent which finds out whether the terminal answers;
// whatever was on its way before is lost.
func (f *flow) begin(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flying, f.unprobed, f.answers = []probe{{at: now, passed: f.passed}}, 0, false
	f.best, f.former, f.since = 0, 0, now
}

// sending notes n bytes that are sent now, and reports whether a probe goes with
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
	return true
}

// answered notes the answer to the oldest probe.
func (f *flow) answered(now time.Time) {
	f.mu.Lock()
	if len(f.flying) > 0 {
		p := f.flying[0]
		f.flying = f.flying[1:]
		f.learn(p, now)
	}
	f.answers = true
	f.mu.Unlock()
	select {
	case f.landed <- struct{}{}:
	default:
	}
}

// learn fits the window to the answer to a probe.
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

// filter takes the answers out of what the terminal sent.
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

// land waits, while somebody reads the terminal, until nothing is on its way.
func (f *flow) land() {
	timer := time.NewTimer(landing)
	defer timer.Stop()
	for f.expected() {
		select {
		case <-f.landed:
		case <-timer.C:
			return
		}
	}
}

// expected reports whether answers are on their way.
func (f *flow) expected() bool {
	_, probes := f.inFlight()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answers && probes > 0
}

// drain is land for a terminal that nobody reads any more: it reads the answers
// itself, and drops what else comes.
func (f *flow) drain(fd int) {
	deadline := time.Now().Add(landing)
	buf := make([]byte, 4096)
	var tail []byte // of the last read: an answer may be cut
	for f.expected() {
		left := time.Until(deadline)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(min(left, 20*time.Millisecond)/time.Millisecond))
		if left <= 0 || err != nil && err != unix.EINTR || n > 0 && fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		if n <= 0 {
			continue // somebody else may have read the answer
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
