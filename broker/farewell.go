package broker

import (
	"cmp"
	"maps"
	"slices"
)

// farewell names what is told of a session when it has ended.
type farewell struct {
	session SessionID
	about   farewellTopic
}

// farewellTopic is what a part of a farewell is about; the parts are told in this order.
type farewellTopic int

const (
	aboutWork     farewellTopic = iota // where the work is
	aboutDisarmed                      // what was moved out of git's way
	aboutObeyed                        // what programs of this machine would run
)

// Farewell is what a person has to know of the sessions that have ended, in lines. User
// interfaces that are gone by then have not told it.
func (b *Broker) Farewell() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, key := range slices.SortedFunc(maps.Keys(b.farewells), func(x, y farewell) int {
		return cmp.Or(cmp.Compare(x.session, y.session), cmp.Compare(x.about, y.about))
	}) {
		all = append(all, b.farewells[key]...)
	}
	return all
}

// sayFarewell says in the farewell what is to be known of the session when it has ended;
// nothing takes back what a former life of the session said.
func (s *session) sayFarewell(about farewellTopic, lines ...string) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	key := farewell{s.fixed.ID, about}
	if s.broker.farewells[key] = lines; len(lines) == 0 {
		delete(s.broker.farewells, key)
	}
}
