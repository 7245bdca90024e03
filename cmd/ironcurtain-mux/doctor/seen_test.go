package doctor

import (
	"testing"
	"time"

	ways "github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
)

func TestDoctorTellsWhatWasSeen(t *testing.T) {
	last := ways.LastSeen{
		User: "1000 in the container, 101000 outside", Isolation: "no network; memory is NOT limited", Differs: true,
		At: time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local),
	}
	for name, c := range map[string]struct {
		known, isolation bool
		status, text     string
	}{
		"nothing":   {false, true, "ok", "not known yet: each container is looked at from inside before its agent starts"},
		"user":      {true, false, "ok", "seen on 2026-11-28: 1000 in the container, 101000 outside"},
		"isolation": {true, true, "warn", "seen on 2026-11-28: no network; memory is NOT limited"},
	} {
		t.Run(name, func(t *testing.T) {
			if f := describeSeen(last, c.known, c.isolation); f.Status != c.status || f.Detail != c.text {
				t.Errorf("found %+v", f)
			}
		})
	}
}
