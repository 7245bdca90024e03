package apt

import (
	"io"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Ecosystem reads apt's repositories. It is a registry.Ecosystem.
type Ecosystem struct {
	seen Seen
	now  func() time.Time

	mu       sync.Mutex
	archives map[string]*archive // by the origin's URL
}

// New returns the ecosystem. seen remembers what it has accepted.
func New(seen Seen) *Ecosystem {
	return &Ecosystem{seen: seen, now: time.Now, archives: map[string]*archive{}}
}

// Name is "apt".
func (*Ecosystem) Name() string { return "apt" }

// archive is the state of one origin.
type archive struct {
	mu       sync.Mutex
	releases map[string]*release // the last verified ones, by distribution
	tried    map[string]bool     // distributions that were asked for
	indexes  []*index            // those in memory; the most recently used is last
}

// archive returns the state of an origin.
func (e *Ecosystem) archive(o *registry.Origin) *archive {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := o.URL.String()
	if e.archives[key] == nil {
		e.archives[key] = &archive{releases: map[string]*release{}, tried: map[string]bool{}}
	}
	return e.archives[key]
}

// Write writes a document as it was verified. Nothing is hidden.
func (*Ecosystem) Write(w io.Writer, f *registry.Facts, _ *registry.Ask, _ func(string) bool) error {
	_, err := w.Write(f.Document.Data)
	return err
}

// Pins returns nothing: apt has no lockfiles.
func (*Ecosystem) Pins(string, []byte) []registry.Pin { return nil }
