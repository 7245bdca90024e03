package broker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// endNotice names one topic that a person should know about a session that has ended.
type endNotice struct {
	session SessionID
	about   session.EndTopic
}

// EndNotices returns, in lines, what a person has to know about the sessions that have
// ended. The caller prints them, since a user interface that closed before the sessions
// ended has not shown them.
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
