package apt

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Seen remembers across processes what was accepted from repositories. Its methods are safe for
// concurrent use. An origin is named by its URL.
type Seen interface {
	// Distributions returns what is remembered about an origin.
	Distributions(origin string) []Distribution
	// Remember replaces what is remembered about one of its distributions.
	Remember(origin string, d Distribution) error
}

// Distribution is what is remembered about a distribution.
type Distribution struct {
	Name string    // as in its path: "stable", "stable/updates"
	Date time.Time // of the newest Release that was accepted
	// Indexes are the Packages and Sources that agents were given, by their paths below the
	// distribution: "main/binary-amd64/Packages.xz".
	Indexes []string
}

// Memory is Seen in memory. The zero value is ready.
type Memory struct {
	mu   sync.Mutex
	seen map[string]map[string]Distribution
}

// Distributions returns what is remembered about an origin, by name.
func (m *Memory) Distributions(origin string) []Distribution {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Distribution
	for _, name := range slices.Sorted(maps.Keys(m.seen[origin])) {
		all = append(all, m.seen[origin][name])
	}
	return all
}

// Remember replaces what is remembered about a distribution.
func (m *Memory) Remember(origin string, d Distribution) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[string]map[string]Distribution{}
	}
	if m.seen[origin] == nil {
		m.seen[origin] = map[string]Distribution{}
	}
	m.seen[origin][d.Name] = d
	return nil
}
