package gomod

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"sync"
	"time"
)

// Heads remembers which signed heads of checksum databases this host held, and since when.
// Its methods are safe for concurrent use. A database is named as in its verifier key.
type Heads interface {
	// Latest returns the signed text of the largest head that was held, or nil. A database
	// that contradicts this head is refused.
	Latest(database string) []byte
	// Since returns the earliest time at which a head was held whose tree contains the record
	// with that number.
	Since(database string, record int64) (time.Time, bool)
	// Hold keeps a head. If it is the largest one, old must be what Latest returned;
	// otherwise ErrConflict is returned and nothing is kept. A head without a signed text only
	// proves age.
	Hold(database string, h Head, old []byte) error
}

// Head is a head of a checksum database's tree.
type Head struct {
	Size   int64     // how many records it has
	Time   time.Time // since when this host held it
	Signed []byte    // the note, as the database signed it; nil when only the size is known
}

// ErrConflict means that a larger head was held in the meantime.
var ErrConflict = errors.New("another head was held in the meantime")

// grain is the time between two heads below which a head between them is forgotten. Versions may
// appear up to that much younger than they are.
const grain = time.Hour

// Memory is Heads in memory. The zero value is ready.
type Memory struct {
	mu     sync.Mutex
	latest map[string]Head
	// held are the heads of a database that prove something; sizes and times rise.
	held map[string][]Head
}

// Latest returns the signed text of the largest head.
func (m *Memory) Latest(database string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest[database].Signed
}

// Since returns the time of the earliest head that has a record.
func (m *Memory) Since(database string, record int64) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.held[database]
	i := sort.Search(len(held), func(i int) bool { return held[i].Size > record })
	if i == len(held) {
		return time.Time{}, false
	}
	return held[i].Time, true
}

// Hold keeps a head.
func (m *Memory) Hold(database string, h Head, old []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.latest, m.held = map[string]Head{}, map[string][]Head{}
	}
	if latest := m.latest[database]; h.Signed != nil && h.Size > latest.Size {
		if !bytes.Equal(old, latest.Signed) {
			return ErrConflict
		}
		m.latest[database] = h
	}
	m.held[database] = withHead(m.held[database], Head{Size: h.Size, Time: h.Time})
	return nil
}

// All returns all held heads, those of each database in the order in which to hold them again.
func (m *Memory) All() map[string][]Head {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string][]Head, len(m.held))
	for database, held := range m.held {
		all[database] = held
		if latest := m.latest[database]; latest.Signed != nil {
			all[database] = append(slices.Clone(held), latest)
		}
	}
	return all
}

// withHead adds a head and removes those that prove nothing more than another one: a smaller one
// that was not held earlier, and one between two that are close in time.
func withHead(held []Head, h Head) []Head {
	all := append(append([]Head{}, held...), h)
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].Size != all[j].Size {
			return all[i].Size < all[j].Size
		}
		return all[i].Time.Before(all[j].Time)
	})
	var rising []Head
	for i := len(all) - 1; i >= 0; i-- {
		switch n := len(rising); {
		case n > 0 && rising[n-1].Size == all[i].Size:
			rising[n-1] = all[i]
		case n == 0 || all[i].Time.Before(rising[n-1].Time):
			rising = append(rising, all[i])
		}
	}
	kept := rising[:0:0]
	for i := len(rising) - 1; i >= 0; i-- {
		if n := len(kept); n > 0 && i > 0 && rising[i-1].Time.Sub(kept[n-1].Time) < grain {
			continue
		}
		kept = append(kept, rising[i])
	}
	return kept
}
