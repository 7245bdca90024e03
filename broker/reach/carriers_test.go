package reach

import (
	"testing"
	"time"
)

// If each carrier is ended at once, some are made at once, and then one from time to time.
func TestPace(t *testing.T) {
	p, begin := pace{}, time.Now()
	now, made := begin, 0
	for now.Sub(begin) < time.Hour {
		now = now.Add(p.next(now) + time.Millisecond)
		made++
	}
	if most := carriersAtOnce + int(time.Hour/carrierEvery); made > most+1 || made < most/2 {
		t.Errorf("%d were made in an hour", made)
	}
	if wait := p.next(now); wait < carrierEvery/2 {
		t.Errorf("the next one waits for %v", wait)
	}
	now = now.Add(2 * carriersAtOnce * carrierEvery)
	for range carriersAtOnce {
		if wait := p.next(now); wait > 0 {
			t.Fatalf("after a rest one waits for %v", wait)
		}
	}
}
