package link

import "time"

// Limits of how many bytes of bulk are in flight.
const (
	minFlight = 64 << 10
	maxFlight = 4 << 20
)

// slowRounds is after how many slow round trips in a row, with minFlight in flight, the path itself
// is taken to have become longer.
const slowRounds = 8

// flight is the congestion control of bulk: it decides how many bytes may be in flight. More of them
// fill the queues between the two ends and make keys wait; fewer leave the line idle. While a round
// trip takes about as long as the shortest one, nothing queues, and size grows: at first it doubles
// with each round trip (slow start), later it grows by an eighth. When a round trip takes twice as
// long, size is halved.
type flight struct {
	size      int
	slowStart bool
	least     time.Duration // shortest round trip on this carrier; 0 is unknown
	slow      int           // slow round trips in a row with minFlight in flight

	mark    uint64 // the current round trip ends when this offset is acknowledged; 0 is none
	began   time.Time
	limited bool // size has kept more from being sent in this round trip
}

func newFlight() flight { return flight{size: minFlight, slowStart: true} }

// restart resets what belongs to a carrier.
func (f *flight) restart() { f.least, f.slow, f.mark = 0, 0, 0 }

// sent notes that bytes up to end were sent.
func (f *flight) sent(end uint64, now time.Time) {
	if f.mark == 0 {
		f.mark, f.began, f.limited = end, now, false
	}
}

// acked notes that bytes up to end were acknowledged. If that ends a round trip, it returns its
// duration, else 0.
func (f *flight) acked(end uint64, now time.Time) time.Duration {
	if f.mark == 0 || end < f.mark {
		return 0
	}
	took := max(now.Sub(f.began), 1)
	f.mark = 0
	f.noteRTT(took)
	f.adapt(took)
	return took
}

// noteRTT notes the duration of a round trip.
func (f *flight) noteRTT(took time.Duration) {
	if f.least == 0 || took < f.least {
		f.least = took
	}
}

// adapt changes size after a round trip of bulk.
func (f *flight) adapt(took time.Duration) {
	switch {
	case took > 2*f.least+20*time.Millisecond:
		f.slowStart = false
		if f.size > minFlight {
			f.size = max(f.size/2, minFlight)
			return
		}
		if f.slow++; f.slow == slowRounds {
			f.least, f.slow = took, 0
		}
		return
	case took > f.least*5/4+5*time.Millisecond:
		f.slowStart = false
	case f.limited && f.slowStart:
		f.size = min(2*f.size, maxFlight)
	case f.limited:
		f.size = min(f.size+f.size/8, maxFlight)
	}
	f.slow = 0
}

// lately is the least of the round trips of the last half minute to minute.
type recentMin struct {
	now, before time.Duration // of this half minute, of the one before; 0 is none
	since       time.Time
}

// period is how long a least round trip is kept apart from those before.
const period = 30 * time.Second

// add is told of a round trip.
func (y *recentMin) add(took time.Duration, now time.Time) {
	if now.Sub(y.since) >= period {
		y.before, y.now, y.since = y.now, 0, now
	}
	if y.now == 0 || took < y.now {
		y.now = took
	}
}

// least is the least round trip, or 0.
func (y *recentMin) min() time.Duration {
	if y.now == 0 || y.before != 0 && y.before < y.now {
		return y.before
	}
	return y.now
}
