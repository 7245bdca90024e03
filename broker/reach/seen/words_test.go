package seen_test

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

func TestUserInWords(t *testing.T) {
	for want, ranges := range map[string][]seen.Range{
		"1000 in the container and outside":     {{Inside: 0, Outside: 0, Count: 1 << 32}},
		"1000 in the container, 101000 outside": {{Inside: 0, Outside: 100_000, Count: 65_536}},
		"1000 in the container, nobody outside": {{Inside: 0, Outside: 100_000, Count: 1000}},
	} {
		t.Run(want, func(t *testing.T) {
			if got := (seen.Seen{UIDs: [4]int{1000, 1000, 1000, 1000}, UIDMap: ranges}).User(); got != want {
				t.Errorf("says %q", got)
			}
		})
	}
}

func TestIsolationInWords(t *testing.T) {
	const whole = "no network, no capabilities, read-only root, seccomp"
	if got := seen.Isolation(nil); got != whole {
		t.Errorf("says %q", got)
	}
	if got := seen.Isolation([]string{"memory is NOT limited"}); got != whole+"; memory is NOT limited" {
		t.Errorf("says %q", got)
	}
}
