package mcpproxy

import (
	"slices"
	"sync"
	"time"
)

// window is the time over which calls are counted.
const window = time.Minute

// maxKeys bounds how many different calls are remembered.
const maxKeys = 4096

// rates counts calls over a sliding minute: equal calls, to stop an agent that repeats
// itself, and calls that would ask a person, so that the person can read every question.
type rates struct {
	repeats     int
	escalations int
	alike       int
	now         func() time.Time

	mu    sync.Mutex
	equal map[string][]time.Time
	asked []question
}

// question is a call that asked a person.
type question struct {
	at       time.Time
	likeness string
}

func newRates(l Limits, now func() time.Time) *rates {
	return &rates{repeats: l.Repeats, escalations: l.Escalations, alike: l.Alike, now: now, equal: map[string][]time.Time{}}
}

// repeated counts a call by its digest and reports whether there were too many.
func (r *rates) repeated(digest string) bool {
	if r.repeats <= 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.equal) >= maxKeys {
		for k, at := range r.equal {
			if len(recent(at, now)) == 0 {
				delete(r.equal, k)
			}
		}
		if len(r.equal) >= maxKeys {
			clear(r.equal) // a flood of different calls is not a circle
		}
	}
	at := recent(r.equal[digest], now)
	if len(at) >= r.repeats {
		r.equal[digest] = at
		return true
	}
	r.equal[digest] = append(at, now)
	return false
}

// crowded counts a question to a person and reports whether there were too many, of all
// kinds or of similar ones.
func (r *rates) crowded(likeness string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.asked = slices.DeleteFunc(r.asked, func(q question) bool { return now.Sub(q.at) >= window })
	alike := 0
	for _, q := range r.asked {
		if q.likeness == likeness {
			alike++
		}
	}
	if len(r.asked) >= r.escalations || alike >= r.alike {
		return true
	}
	r.asked = append(r.asked, question{now, likeness})
	return false
}

// recent drops entries that are older than the window.
func recent(at []time.Time, now time.Time) []time.Time {
	i := 0
	for i < len(at) && now.Sub(at[i]) >= window {
		i++
	}
	return at[i:]
}
