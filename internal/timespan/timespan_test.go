package timespan

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "3d": 72 * time.Hour,
		"2 hours": 2 * time.Hour, "2 Hours": 2 * time.Hour, " 1 day and 12 hours ": 36 * time.Hour, "1 day, 2h": 26 * time.Hour, "1.5h": 90 * time.Minute,
		"2w": 2 * Week, "250ms": 250 * time.Millisecond, "1 min": time.Minute, "90 secs": 90 * time.Second, "36500d": Max, "0.5d": 12 * time.Hour, "1h 30m": 90 * time.Minute,
	} {
		if got, err := Parse(s); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", " ", "5", "h", "3x", "-1h", "+1h", "1h-", "1h30", "3 months", "1..5h", ".h", "1e3s", "and 3d", "٣d", "99999999999999999999999s", "36501d", "9999999999999999999d"} {
		if got, err := Parse(s); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
	_, err := Parse("5")
	if !strings.Contains(err.Error(), `"5" is not a length of time`) || !strings.Contains(fault.Hint(err), "3d") {
		t.Errorf("%v (%s)", err, fault.Hint(err))
	}
}

func TestString(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "45s": 45 * time.Second, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "3d": 3 * Day, "1d2h": 26 * time.Hour, "1d1s": Day + time.Second,
		"10m": 10 * time.Minute, "10h": 10 * time.Hour, "1h0m5s": time.Hour + 5*time.Second, "-1h": -time.Hour, "1.5s": 1500 * time.Millisecond,
	} {
		if got := String(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// What is written is read as the same.
func FuzzParse(f *testing.F) {
	f.Add("1h30m")
	f.Add("2 days and 3.5 hours")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			return
		}
		if d < 0 || d > Max {
			t.Fatalf("%q is %v", s, d)
		}
		if d %= Max; d%time.Second == 0 {
			if again, err := Parse(String(d)); err != nil || again != d {
				t.Fatalf("%q: %v is written %q, read as %v, %v", s, d, String(d), again, err)
			}
		}
	})
}
