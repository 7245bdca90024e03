package term

import "time"

// maxHold is how long a synchronized update may keep a screen from being
// painted.
const maxHold = 150 * time.Millisecond

// syncHold keeps track of synchronized updates (mode 2026). The time counts
// from the first one since a frame was last taken, so that a program that ends and
// begins them without pause cannot stop painting.
type syncHold struct {
	active bool
	since  time.Time // zero when a frame was taken since
}

func (h *syncHold) begin() {
	h.active = true
	if h.since.IsZero() {
		h.since = time.Now()
	}
}

func (h *syncHold) end() { h.active = false }

// holding says whether a frame taken now would show an unfinished update.
func (h *syncHold) holding() bool {
	return h.active && time.Since(h.since) < maxHold
}

// taken notes that a frame was taken.
func (h *syncHold) taken() {
	if !h.active {
		h.since = time.Time{}
	}
}
