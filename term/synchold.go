package term

import "time"

// maxHold is how long synchronized updates may delay painting.
const maxHold = 150 * time.Millisecond

// syncHold tracks synchronized updates (mode 2026). The time counts from the start of the
// first update after a Write that did not end in one, so that a program that ends and
// begins updates without pause cannot prevent painting.
type syncHold struct {
	active bool
	since  time.Time // start of the first update; zero after a Write that ended outside of one
}

func (h *syncHold) begin() {
	h.active = true
	if h.since.IsZero() {
		h.since = time.Now()
	}
}

func (h *syncHold) end() { h.active = false }

// rest is called when a Write ends: outside of an update everybody can take a frame.
func (h *syncHold) rest() {
	if !h.active {
		h.since = time.Time{}
	}
}

// holding reports whether a frame taken now would show an unfinished update.
func (h *syncHold) holding() bool {
	return h.active && time.Since(h.since) < maxHold
}

// holds reports whether a frame should wait for the end of an update. Each frame waits for
// maxHold at most, whatever frames others take, also when it misses every end of an update.
func (h *syncHold) holds(f *Frame) bool {
	if !h.holding() {
		return false
	}
	if f.waits.IsZero() {
		f.waits = h.since
	}
	return time.Since(f.waits) < maxHold
}
