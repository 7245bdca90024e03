package packages

import (
	"sync"
	"time"
)

// Counts are how many packages a session has received, how many versions of packages its agent does
// not see, and how many artifacts wait for the person. All are 0 while no packages arrive.
type Counts struct {
	Delivered int `json:"delivered"`
	Hidden    int `json:"hidden"`
	Waiting   int `json:"waiting"`
}

const (
	movingEvery = 500 * time.Millisecond // between two reports
	movingQuiet = 10 * time.Second       // without a request, after which packages count as no longer arriving
)

// moving reports a session's counts while packages arrive, and then that no more do.
type moving struct {
	count  func() Counts
	report func(Counts) // returns at once

	mu       sync.Mutex
	timer    *time.Timer // nil while no packages arrive
	reported Counts
	last     time.Time // of the newest request
	closed   bool
}

// touch records that a request was made or answered.
func (m *moving) touch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last = time.Now(); m.timer == nil && !m.closed {
		m.timer = time.AfterFunc(movingEvery, m.tick)
	}
}

// tick reports the counts if they have changed.
func (m *moving) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	now := m.count()
	if now.Waiting == 0 && time.Since(m.last) >= movingQuiet {
		now, m.timer = Counts{}, nil
	} else {
		m.timer.Reset(movingEvery)
	}
	if now != m.reported {
		m.reported = now
		m.report(now)
	}
}

// close stops the reports.
func (m *moving) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.timer != nil {
		m.timer.Stop()
	}
}
