package session

import (
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

func TestFarLine(t *testing.T) {
	for want, c := range map[string]struct {
		host   string
		copied bool
		rtt    time.Duration
	}{
		"":                                  {"", false, 3 * time.Millisecond},
		"files copied":                      {"", true, 3 * time.Millisecond},
		"build-box":                         {"build-box", false, 0},
		"build-box · 1 ms":                  {"build-box", false, 20 * time.Microsecond},
		"build-box · files copied":          {"build-box", true, 0},
		"build-box · files copied · 152 ms": {"build-box", true, 151_700 * time.Microsecond},
		"build-box · files copied · 1.0 s":  {"build-box", true, 999_900 * time.Microsecond},
		"build-box · files copied · 12.3 s": {"build-box", true, 12_340 * time.Millisecond},
	} {
		t.Run(want, func(t *testing.T) {
			if got := farLine(c.host, c.copied, c.rtt); got != want {
				t.Errorf("says %q", got)
			}
		})
	}
}

func TestEngineHost(t *testing.T) {
	for address, want := range map[string]string{
		"unix:///var/run/docker.sock":               "",
		"tcp://127.0.0.1:2375":                      "",
		"tcp://[::1]:2375":                          "",
		"http://localhost:2375":                     "",
		"tcp://10.0.0.7:2376":                       "10.0.0.7",
		"https://build-box":                         "build-box",
		"ssh://me@build-box:2222/run/docker.sock":   "build-box",
		"ssh://me@[fd00::7]/run/user/1/podman.sock": "fd00::7",
		"\x00": "",
	} {
		t.Run(address, func(t *testing.T) {
			if got := engineHost(address); got != want {
				t.Errorf("host %q, not %q", got, want)
			}
		})
	}
}

// farAway is a line with a round trip, and counts who asks for it.
type farAway struct {
	rtt   time.Duration
	asked int
}

func (f *farAway) RTT() time.Duration { f.asked++; return f.rtt }

// The line is asked now and then, and what it says is announced only when it is news. A tab that has
// ended says nothing of where it was.
func TestARoundTripIsToldWhenItIsNews(t *testing.T) {
	s, line := stateSession(t), &farAway{rtt: 100 * time.Millisecond}
	s.count(func(t *tally) { t.running, t.connected = true, true })
	s.SetFar("build-box", true, line)
	began := time.Now()
	for i, c := range []struct {
		after time.Duration
		rtt   time.Duration
		says  string
		asked int
	}{
		{0, 100 * time.Millisecond, "build-box · files copied · 100 ms", 1},
		{3 * time.Second, 500 * time.Millisecond, "build-box · files copied · 100 ms", 1},
		{6 * time.Second, 119 * time.Millisecond, "build-box · files copied · 100 ms", 2},
		{8 * time.Second, 500 * time.Millisecond, "build-box · files copied · 100 ms", 2},
		{12 * time.Second, 120 * time.Millisecond, "build-box · files copied · 120 ms", 3},
		{18 * time.Second, 100 * time.Millisecond, "build-box · files copied · 120 ms", 4},
		{24 * time.Second, 0, "build-box · files copied", 5},
		{30 * time.Second, 90 * time.Millisecond, "build-box · files copied · 90 ms", 6},
	} {
		before := s.Info().Far
		line.rtt = c.rtt
		announced := announcements(s, func() { s.CheckFar(began.Add(c.after)) })
		if got := s.Info().Far; got != c.says || line.asked != c.asked {
			t.Errorf("step %d: says %q, asked %d times", i, got, line.asked)
		}
		if news := before != c.says; news != (announced > 0) {
			t.Errorf("step %d: announced %d times", i, announced)
		}
	}
	s.count(func(t *tally) { t.dead = true })
	if got := s.Info(); got.State != stored.StateDead || got.Far != "" {
		t.Errorf("after its end: %q", got.Far)
	}
}
