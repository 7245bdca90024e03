package link

import (
	"testing"
	"time"
)

// round is a number of equal round trips.
type round struct {
	trips int
	took  time.Duration
	idle  bool // less was sent than might have been
	want  int  // size after them
}

func TestFlightFollowsTheRoundTrip(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name   string
		rounds []round
	}{
		{"doubles at first, up to its bound", []round{{trips: 3, took: 100 * ms, want: 512 << 10}, {trips: 30, took: 100 * ms, want: maxFlight}}},
		{"grows by an eighth once doubling has ended", []round{
			{trips: 2, took: 100 * ms, want: 256 << 10},
			{trips: 1, took: 131 * ms, want: 256 << 10}, // more than 1.25 × 100 + 5
			{trips: 1, took: 129 * ms, want: 288 << 10},
		}},
		{"keeps its size between", []round{{trips: 2, took: 100 * ms, want: 256 << 10}, {trips: 9, took: 219 * ms, want: 256 << 10}}},
		{"is halved when bytes queue", []round{
			{trips: 3, took: 100 * ms, want: 512 << 10},
			{trips: 2, took: 221 * ms, want: 128 << 10}, // more than 2 × 100 + 20
			{trips: 1, took: 100 * ms, want: 144 << 10},
			{trips: 5, took: 221 * ms, want: minFlight},
		}},
		{"does not grow unused", []round{{trips: 9, took: 100 * ms, idle: true, want: minFlight}}},
		{"finds that the way has become longer", []round{
			{trips: 1, took: 10 * ms, want: 128 << 10},
			{trips: 1 + slowRounds, took: 300 * ms, want: minFlight},
			{trips: 1, took: 300 * ms, want: 72 << 10},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, now, at := newFlight(), time.Now(), uint64(0)
			for i, r := range test.rounds {
				for range r.trips {
					at++
					f.sent(at, now)
					f.limited = !r.idle
					now = now.Add(r.took)
					if f.acked(at-1, now) != 0 {
						t.Fatal("a round trip ended before it was acknowledged")
					}
					if took := f.acked(at, now); took != r.took {
						t.Fatalf("a round trip took %v", took)
					}
				}
				if f.size != r.want {
					t.Fatalf("after round %d, the flight is %d, not %d", i, f.size, r.want)
				}
			}
		})
	}
}

// The shortest round trip is forgotten after at most a minute.
func TestLeastRoundTripOfLately(t *testing.T) {
	var y recentMin
	now := time.Now()
	for _, step := range []struct {
		after, took, want time.Duration
	}{
		{0, 5, 5},
		{time.Second, 9, 5},
		{period, 7, 5},
		{period, 8, 7},
		{period, 8, 8},
	} {
		now = now.Add(step.after)
		y.add(step.took, now)
		if got := y.min(); got != step.want {
			t.Errorf("after a round trip of %d the least is %d, not %d", step.took, got, step.want)
		}
	}
	if (&recentMin{}).min() != 0 {
		t.Error("it is known without one")
	}
}
