package broker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// endNotice names what is told of a session when it has ended.
type endNotice struct {
	session SessionID
	about   session.EndTopic
}

// EndNotices is what a person has to know of the sessions that have ended, in lines. User
// interfaces that are gone by then have not told it.
func (b *Broker) EndNotices() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, key := range slices.SortedFunc(maps.Keys(b.endNotices), func(x, y endNotice) int {
		return cmp.Or(cmp.Compare(x.session, y.session), cmp.Compare(x.about, y.about))
	}) {
		all = append(all, b.endNotices[key]...)
	}
	return all
}
