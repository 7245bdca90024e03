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
	return b.takeEndNotices(func(SessionID) bool { return true })
}

// EndNoticesOf is EndNotices of one session.
func (b *Broker) EndNoticesOf(id SessionID) []string {
	return b.takeEndNotices(func(one SessionID) bool { return one == id })
}

// takeEndNotices returns the end notices of some sessions, and forgets them.
func (b *Broker) takeEndNotices(some func(SessionID) bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, key := range slices.SortedFunc(maps.Keys(b.endNotices), func(x, y endNotice) int {
		return cmp.Or(cmp.Compare(x.session, y.session), cmp.Compare(x.about, y.about))
	}) {
		if some(key.session) {
			all = append(all, b.endNotices[key]...)
			delete(b.endNotices, key)
		}
	}
	return all
}
