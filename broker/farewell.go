package broker

import (
	"maps"
	"slices"
)

// Farewell is what a person has to know of the sessions that have ended, a line for
// each: where their work is. User interfaces that are gone by then have not told it.
func (b *Broker) Farewell() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Values(b.farewells))
}

// sayFarewell says what is to be known of the session when it has ended, now and in the
// farewell; nothing takes back what a former life of the session said.
func (s *session) sayFarewell(text string) {
	s.broker.mu.Lock()
	if s.broker.farewells[s.fixed.ID] = text; text == "" {
		delete(s.broker.farewells, s.fixed.ID)
	}
	s.broker.mu.Unlock()
	if text != "" {
		s.notice(false, text)
	}
}
