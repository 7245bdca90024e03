package broker

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkEscalationAnnounced measures the time from when a call begins to wait to its
// event for user interfaces. The call has been written to disk by then.
//
//	go test -run '^$' -bench EscalationAnnounced ./broker
func BenchmarkEscalationAnnounced(b *testing.B) {
	times := announced(b, max(2, b.N))
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
}

// A waiting call is announced well within the fifty milliseconds in which it must be on
// the screen. Other work on this machine may delay some calls, so the test looks at a
// lower quartile.
func TestEscalationIsAnnouncedAtOnce(t *testing.T) {
	times := announced(t, 40)
	if quarter := times[len(times)/4]; quarter > 10*time.Millisecond {
		t.Errorf("three of four calls were announced later than %v", quarter)
	}
}

func announced(t testing.TB, n int) []time.Duration {
	t.Helper()
	d := newDesk(t)
	var times []time.Duration
	for i := range n {
		begun := time.Now()
		e, settled := d.ask("write_file", writeCall, fmt.Sprintf("%s/%d", d.outside, i))
		times = append(times, time.Since(begun))
		if _, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest}); err != nil {
			t.Fatal(err)
		}
		<-settled
	}
	slices.Sort(times)
	return times
}
