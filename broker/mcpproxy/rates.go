package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
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
			clear(r.equal) // a flood of different calls is no repetition
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

// likeness is equal for calls of one tool that a rule escalates for the same places: for
// paths the directory, for addresses the host. A flood of such calls is one question that
// is asked many times.
func (c *call) likeness() string {
	var places []string
	for _, v := range c.verdict.Values {
		place := v.Text
		switch {
		case v.Origin != "":
			place = v.Origin
		case path.IsAbs(v.Text):
			place = path.Dir(v.Text)
		}
		places = append(places, string(v.Role)+" "+place)
	}
	slices.Sort(places)
	raw, err := json.Marshal(append([]string{c.target.server, c.target.tool, c.verdict.Rule}, slices.Compact(places)...))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// collapse refuses a call because too many ask, and counts it where a person sees the
// number.
func (c *call) collapse(ctx context.Context) json.RawMessage {
	if !c.proxy.config.Approvals.Collapse(c.proxy.config.Session, c.likeness()) {
		c.proxy.announce(Activity{Kind: CallUnasked, Server: c.target.server, Tool: c.target.tool})
	}
	return c.deny(ctx, ruleCrowded, fmt.Sprintf("too many calls needed a person within a minute; the limit is %d, and %d for similar ones",
		c.proxy.limits.Escalations, c.proxy.limits.Alike))
}
