package term

import "time"

// maxHold is how long a synchronized update may delay painting.
const maxHold = 150 * time.Millisecond

// syncHold tracks synchronized updates (mode 2026). The time counts from the start of
// the first update after the last frame, so that a program that ends and begins updates
// without pause cannot prevent painting.
type syncHold struct {
	active bool
	since  time.Time // start of the first update; zero after a frame was taken
}

func (h *syncHold) begin() {
	h.active = true
	if h.since.IsZero() {
		h.since = time.Now()
	}
}

func (h *syncHold) end() { h.active = false }

// holding reports whether a frame taken now would show an unfinished update.
func (h *syncHold) holding() bool {
	return h.active && time.Since(h.since) < maxHold
}

// taken records that a frame was taken.
func (h *syncHold) taken() {
	if !h.active {
		h.since = time.Time{}
	}
}
