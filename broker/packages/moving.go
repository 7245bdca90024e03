package packages

import (
	"sync"
	"time"
)

// Counts are how many packages of a session have come in, how many versions of them its agent
// does not see, and how many artifacts wait for the person. All are 0 when nothing moves.
type Counts struct {
	Delivered int `json:"delivered"`
	Hidden    int `json:"hidden"`
	Waiting   int `json:"waiting"`
}

const (
	movingEvery = 500 * time.Millisecond // between two counts that are told
	movingQuiet = 10 * time.Second       // without a request, after which nothing moves
)

// moving tells a session's counts while packages come in, and that none do any more.
type moving struct {
	count func() Counts
	tell  func(Counts) // returns at once

	mu     sync.Mutex
	timer  *time.Timer // nil while nothing moves
	told   Counts
	last   time.Time // of the newest request
	closed bool
}

// touch says that a request was made or answered.
func (m *moving) touch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last = time.Now(); m.timer == nil && !m.closed {
		m.timer = time.AfterFunc(movingEvery, m.tick)
	}
}

// tick tells the counts, when they have changed.
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
	if now != m.told {
		m.told = now
		m.tell(now)
	}
}

// close ends it: nothing is told afterwards.
func (m *moving) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.timer != nil {
		m.timer.Stop()
	}
}
