package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// minAge is how long a call must have been on screen without a break before it can
// be decided: no key that was already on its way may decide it.
const minAge = 300 * time.Millisecond

// pendingItem is one call that waits for a person, and what the person has
// seen of it.
type pendingItem struct {
	call   broker.Escalation
	body   itemBody
	laying int    // the width it is being laid out for beside the event loop, or 0
	laid   int    // counts how often its rows were made anew
	seen   []bool // by row of the body: it has stood on the screen
	// complete is set once every row was seen; it stays when the width changes.
	complete bool
	since    time.Time // from when it has been on screen without a break, or zero
	looked   bool      // it was there for minAge, and the panel has stayed open since
	// scopes are what its approval could be remembered for, once they are
	// known; they are rows of the body then.
	scopes  []broker.Scope
	scoped  bool
	scoping bool // they are being looked for
	sent    bool // a decision is under way
}

// approvals is what waits for a person, oldest first, and which item of it the
// panel shows.
type approvals struct {
	items  []*pendingItem
	shown  string // ID of the item in the panel
	scroll int    // first row of the item that is shown
	batch  *batch // the latest calls that were decided together; may be nil
	agreed string // the item that was shown when the command was begun
	log    []settledCall
	drawn  map[uint64]drawnRows // scenes whose painting is not reported yet
	stay   int                  // counts the times that an item came into the panel
}

// drawnRows says which rows of which item a scene shows.
type drawnRows struct {
	id       string
	stay     int // during which it was drawn
	laid     int // of the item
	from, to int
}

// find returns the item with an ID.
func (a *approvals) find(id string) *pendingItem {
	for _, it := range a.items {
		if it.call.ID == id {
			return it
		}
	}
	return nil
}

// numbered returns the item with a number.
func (a *approvals) numbered(n int) *pendingItem {
	for _, it := range a.items {
		if it.call.Number == n {
			return it
		}
	}
	return nil
}

// current is the item in the panel: the chosen one, else the oldest.
func (a *approvals) current() *pendingItem {
	if it := a.find(a.shown); it != nil {
		return it
	}
	if len(a.items) == 0 {
		return nil
	}
	a.shown, a.scroll = a.items[0].call.ID, 0
	a.stay++
	return a.items[0]
}

// choose puts another item into the panel. Whether the one there was looked at is
// settled then.
func (a *approvals) choose(id string, now time.Time) {
	if a.shown == id {
		return
	}
	if it := a.find(a.shown); it != nil {
		it.looked, it.since = it.seenFor(now), time.Time{}
	}
	a.shown, a.scroll = id, 0
	a.stay++
}

// seenFor tells whether an item has been looked at for long enough since the panel
// was opened.
func (it *pendingItem) seenFor(now time.Time) bool {
	return it.looked || !it.since.IsZero() && now.Sub(it.since) >= minAge
}

// prefer puts the oldest call of a session into the panel, unless one of its calls is
// there or it has none.
func (a *approvals) prefer(session broker.SessionID, now time.Time) {
	if it := a.current(); it == nil || it.call.Session == session {
		return
	}
	for _, it := range a.items {
		if it.call.Session == session {
			a.choose(it.call.ID, now)
			return
		}
	}
}

// lostText says how many calls would not be carried out if a session ended, or every
// one.
func (a *approvals) lostText(session broker.SessionID) string {
	n := 0
	for _, it := range a.items {
		if session == "" || it.call.Session == session {
			n++
		}
	}
	return lostCalls(n)
}

func lostCalls(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and 1 call that waits will not be carried out"
	}
	return fmt.Sprintf(", and %d calls that wait will not be carried out", n)
}

// alike counts the other items that differ from one in details only.
func (a *approvals) alike(it *pendingItem) int {
	n := 0
	for _, x := range a.items {
		if x != it && it.call.Likeness != "" && x.call.Likeness == it.call.Likeness && x.call.Session == it.call.Session {
			n++
		}
	}
	return n
}

// index is the place of an item in the list, or -1.
func (a *approvals) index(it *pendingItem) int {
	for i, x := range a.items {
		if x == it {
			return i
		}
	}
	return -1
}

// step chooses the item n places further, around the ends.
func (a *approvals) step(n int, now time.Time) {
	it := a.current()
	if it == nil {
		return
	}
	k := len(a.items)
	a.choose(a.items[((a.index(it)+n)%k+k)%k].call.ID, now)
}

// add notes a call that waits, once.
func (a *approvals) add(e broker.Escalation) {
	if a.find(e.ID) != nil {
		return
	}
	at := len(a.items)
	for at > 0 && a.items[at-1].call.Number > e.Number {
		at--
	}
	a.items = append(a.items, nil)
	copy(a.items[at+1:], a.items[at:])
	a.items[at] = &pendingItem{call: e}
}

// remove drops a call that waits no longer.
func (a *approvals) remove(id string) *pendingItem {
	it := a.find(id)
	if it == nil {
		return nil
	}
	i := a.index(it)
	a.items = append(a.items[:i:i], a.items[i+1:]...)
	if a.shown == id {
		a.shown = ""
	}
	return it
}

// replace takes over a list from the broker, keeping what was seen of the
// items that are still there.
func (a *approvals) replace(list []broker.Escalation) {
	old := a.items
	a.items = nil
	for _, e := range list {
		a.add(e)
	}
	for i, it := range a.items {
		for _, o := range old {
			if o.call.ID == it.call.ID && o.call.Digest == it.call.Digest {
				o.update(it.call)
				a.items[i] = o
			}
		}
	}
}

// update takes over what changes of a call while it waits; what it is stays.
func (it *pendingItem) update(e broker.Escalation) {
	if it.call.Unclaimed != e.Unclaimed || leftToPerson(it.call) != leftToPerson(e) {
		it.unlay() // it says so
	}
	it.call.More, it.call.Unclaimed, it.call.Auto = e.More, e.Unclaimed, e.Auto
}

// settledCall is a call that was decided, and what became of it, once that is known.
type settledCall struct {
	broker.Resolution
	ending *broker.Ending
}

// keptCalls is how many settled calls are remembered.
const keptCalls = 256

// record keeps the last resolutions. Of a call that is kept already it takes over what
// only the answer to a decision tells.
func (a *approvals) record(r broker.Resolution) *settledCall {
	if s := a.settled(r.ID); s != nil {
		s.Grant = max(s.Grant, r.Grant)
		return s
	}
	a.log = append(a.log, settledCall{Resolution: r})
	if len(a.log) > keptCalls {
		a.log = a.log[1:]
	}
	return &a.log[len(a.log)-1]
}

// settled is a call that is remembered, or nil.
func (a *approvals) settled(id string) *settledCall {
	for i := range a.log {
		if a.log[i].ID == id {
			return &a.log[i]
		}
	}
	return nil
}

// hide notes that the panel is not on screen: every item has to be looked at anew.
func (a *approvals) hide() {
	for _, it := range a.items {
		it.since, it.looked = time.Time{}, false
	}
	a.drawn = nil
	a.stay++
}

// painted notes that a scene stands on the screen since at.
func (a *approvals) painted(seq uint64, at time.Time) {
	d, ok := a.drawn[seq]
	if !ok {
		return
	}
	for s := range a.drawn {
		if s <= seq {
			delete(a.drawn, s)
		}
	}
	it := a.find(d.id)
	if it == nil || it.laid != d.laid || d.from >= d.to {
		return
	}
	if d.stay == a.stay && it.since.IsZero() {
		it.since = at
	}
	for i := d.from; i < d.to && i < len(it.seen); i++ {
		it.seen[i] = true
	}
	if !it.complete {
		it.complete = len(it.seen) > 0 && it.unseen() == 0
	}
}

// unseen counts the rows of an item that were not on screen yet.
func (it *pendingItem) unseen() int {
	n := 0
	for _, s := range it.seen {
		if !s {
			n++
		}
	}
	return n
}

// pageDown goes to the next page of the item; behind the last one, to the first
// row that was not shown yet, or to the top.
func (a *approvals) pageDown(page int) {
	it := a.current()
	if a.scroll+page < len(it.body.rows) {
		a.scroll += page
		return
	}
	a.scroll = max(0, slices.Index(it.seen, false))
}
