package link

import "time"

// Bounds of how many bytes of bulk are on their way at once.
const (
	leastFlight = 64 << 10
	mostFlight  = 4 << 20
)

// slowRounds is how many round trips in a row are too slow at the least flight before the
// way itself is taken to have become longer.
const slowRounds = 8

// flight decides how many bytes of bulk may be on their way at once. More of them fill the
// queues between the two ends and make keys wait; fewer leave the line idle. While a round trip
// takes about as long as the fastest one, nothing queues, and the flight grows: it is doubled until
// that has ended once, then grows by an eighth a round trip. When a round trip takes twice
// as long, the flight is halved.
type flight struct {
	size    int
	opening bool          // it is doubled
	least   time.Duration // of all round trips on this carrier; 0 is unknown
	slow    int           // round trips in a row that were too slow at the least flight

	mark    uint64 // a round trip ends when this offset is acknowledged; 0 is none
	began   time.Time
	limited bool // more would have been sent in it
}

func newFlight() flight { return flight{size: leastFlight, opening: true} }

// restart forgets what belongs to a carrier.
func (f *flight) restart() { f.least, f.slow, f.mark = 0, 0, 0 }

// sent is told up to where bytes were sent.
func (f *flight) sent(end uint64, now time.Time) {
	if f.mark == 0 {
		f.mark, f.began, f.limited = end, now, false
	}
}

// acked is told up to where bytes have come. It returns how long the round trip took that
// has ended by that, or 0.
func (f *flight) acked(end uint64, now time.Time) time.Duration {
	if f.mark == 0 || end < f.mark {
		return 0
	}
	took := max(now.Sub(f.began), 1)
	f.mark = 0
	f.fastest(took)
	f.adapt(took)
	return took
}

// fastest is told of a round trip.
func (f *flight) fastest(took time.Duration) {
	if f.least == 0 || took < f.least {
		f.least = took
	}
}

// adapt follows a round trip with bulk on its way.
func (f *flight) adapt(took time.Duration) {
	switch {
	case took > 2*f.least+20*time.Millisecond:
		f.opening = false
		if f.size > leastFlight {
			f.size = max(f.size/2, leastFlight)
			return
		}
		if f.slow++; f.slow == slowRounds {
			f.least, f.slow = took, 0
		}
		return
	case took > f.least*5/4+5*time.Millisecond:
		f.opening = false
	case f.limited && f.opening:
		f.size = min(2*f.size, mostFlight)
	case f.limited:
		f.size = min(f.size+f.size/8, mostFlight)
	}
	f.slow = 0
}

// lately is the least of the round trips of the last half minute to minute.
type lately struct {
	now, before time.Duration // of this half minute, of the one before; 0 is none
	since       time.Time
}

// period is how long a least round trip is kept apart from those before.
const period = 30 * time.Second

// add is told of a round trip.
func (y *lately) add(took time.Duration, now time.Time) {
	if now.Sub(y.since) >= period {
		y.before, y.now, y.since = y.now, 0, now
	}
	if y.now == 0 || took < y.now {
		y.now = took
	}
}

// least is the least round trip, or 0.
func (y *lately) least() time.Duration {
	if y.now == 0 || y.before != 0 && y.before < y.now {
		return y.before
	}
	return y.now
}
