package panel

import (
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// MinAge is how long a call must have been on screen without a break before it can
// be decided: no key that was already on its way may decide it.
const MinAge = 300 * time.Millisecond

// Item is one call that waits for a person, and what the person has
// seen of it.
type Item struct {
	Call   broker.Escalation
	Body   Body
	laying int    // the width it is being laid out for beside the event loop, or 0
	laid   int    // counts how often its rows were made anew
	seen   []bool // by row of the body: it has stood on the screen
	// complete is set once every row was seen; it stays when the width changes.
	Complete bool
	Since    time.Time // from when it has been on screen without a break, or zero
	looked   bool      // it was there for minAge, and the panel has stayed open since
	// slipped is set while it is in the panel because another call went away after the line
	// was begun, and nobody has said that it is meant.
	slipped bool
	// scopes are what its approval could be remembered for, once they are
	// known; they are rows of the body then.
	Scopes  []broker.Scope
	Scoped  bool
	Scoping bool // they are being looked for
	Sent    bool // a decision is under way
}

// Queue is what waits for a person, oldest first, and which item of it the
// panel shows.
type Queue struct {
	Items  []*Item
	shown  string // ID of the item in the panel
	Scroll int    // first row of the item that is shown
	Batch  *batch // the latest calls that were decided together; may be nil
	Agreed string // the item that was shown when the command was begun
	Log    []SettledCall
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

// Find returns the item with an ID.
func (a *Queue) Find(id string) *Item {
	for _, it := range a.Items {
		if it.Call.ID == id {
			return it
		}
	}
	return nil
}

// Numbered returns the item with a number.
func (a *Queue) Numbered(n int) *Item {
	for _, it := range a.Items {
		if it.Call.Number == n {
			return it
		}
	}
	return nil
}

// Current is the item in the panel: the chosen one, else the oldest.
func (a *Queue) Current() *Item {
	if it := a.Find(a.shown); it != nil {
		return it
	}
	if len(a.Items) == 0 {
		return nil
	}
	a.shown, a.Scroll = a.Items[0].Call.ID, 0
	a.stay++
	a.Items[0].slipped = true
	return a.Items[0]
}

// Begin notes that a line is begun, about what the panel shows now.
func (a *Queue) Begin() {
	a.Agreed = ""
	if it := a.Current(); it != nil {
		a.Agreed, it.slipped = it.Call.ID, false
	}
}

// choose puts another item into the panel. Whether the one there was looked at is
// settled then.
func (a *Queue) choose(id string, now time.Time) {
	if a.shown == id {
		return
	}
	if it := a.Find(a.shown); it != nil {
		it.looked, it.Since = it.seenFor(now), time.Time{}
	}
	a.shown, a.Scroll = id, 0
	a.stay++
	if it := a.Find(id); it != nil {
		it.slipped = false
	}
}

// seenFor tells whether an item has been looked at for long enough since the panel
// was opened.
func (it *Item) seenFor(now time.Time) bool {
	return it.looked || !it.Since.IsZero() && now.Sub(it.Since) >= MinAge
}

// Prefer puts the oldest call of a session into the panel, unless one of its calls is
// there or it has none.
func (a *Queue) Prefer(session broker.SessionID, now time.Time) {
	if it := a.Current(); it == nil || it.Call.Session == session {
		return
	}
	for _, it := range a.Items {
		if it.Call.Session == session {
			a.choose(it.Call.ID, now)
			return
		}
	}
}

// LostText says how many calls would not be carried out if a session ended, or every
// one.
func (a *Queue) LostText(session broker.SessionID) string {
	n := 0
	for _, it := range a.Items {
		if session == "" || it.Call.Session == session {
			n++
		}
	}
	return LostCalls(n)
}

// LostCalls says how many calls would not be carried out.
func LostCalls(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and 1 call that waits will not be carried out"
	}
	return fmt.Sprintf(", and %d calls that wait will not be carried out", n)
}

// alike counts the other items that differ from one in details only.
func (a *Queue) alike(it *Item) int {
	n := 0
	for _, x := range a.Items {
		if x != it && it.Call.Likeness != "" && x.Call.Likeness == it.Call.Likeness && x.Call.Session == it.Call.Session {
			n++
		}
	}
	return n
}

// index is the place of an item in the list, or -1.
func (a *Queue) index(it *Item) int {
	for i, x := range a.Items {
		if x == it {
			return i
		}
	}
	return -1
}

// Step chooses the item n places further, around the ends.
func (a *Queue) Step(n int, now time.Time) {
	it := a.Current()
	if it == nil {
		return
	}
	k := len(a.Items)
	a.choose(a.Items[((a.index(it)+n)%k+k)%k].Call.ID, now)
}

// Add notes a call that waits, once.
func (a *Queue) Add(e broker.Escalation) {
	if a.Find(e.ID) != nil {
		return
	}
	at := len(a.Items)
	for at > 0 && a.Items[at-1].Call.Number > e.Number {
		at--
	}
	a.Items = append(a.Items, nil)
	copy(a.Items[at+1:], a.Items[at:])
	a.Items[at] = &Item{Call: e}
}

// Remove drops a call that waits no longer.
func (a *Queue) Remove(id string) *Item {
	it := a.Find(id)
	if it == nil {
		return nil
	}
	i := a.index(it)
	a.Items = append(a.Items[:i:i], a.Items[i+1:]...)
	if a.shown == id {
		a.shown = ""
	}
	return it
}

// Replace takes over a list from the broker, keeping what was seen of the
// items that are still there.
func (a *Queue) Replace(list []broker.Escalation) {
	old := a.Items
	a.Items = nil
	for _, e := range list {
		a.Add(e)
	}
	for i, it := range a.Items {
		for _, o := range old {
			if o.Call.ID == it.Call.ID && o.Call.Digest == it.Call.Digest {
				o.Update(it.Call)
				a.Items[i] = o
			}
		}
	}
}

// Update takes over what changes of a call while it waits; what it is stays.
func (it *Item) Update(e broker.Escalation) {
	if it.Call.Unclaimed != e.Unclaimed || leftToPerson(it.Call) != leftToPerson(e) {
		it.Unlay() // it says so
	}
	it.Call.More, it.Call.Unclaimed, it.Call.Auto = e.More, e.Unclaimed, e.Auto
}

// SettledCall is a call that was decided, and what became of it, once that is known.
type SettledCall struct {
	broker.Resolution
	Ending *broker.Ending
}

// keptCalls is how many settled calls are remembered.
const keptCalls = 256

// Record keeps the last resolutions. Of a call that is kept already it takes over what
// only the answer to a decision tells.
func (a *Queue) Record(r broker.Resolution) *SettledCall {
	if s := a.Settled(r.ID); s != nil {
		s.Grant = max(s.Grant, r.Grant)
		return s
	}
	a.Log = append(a.Log, SettledCall{Resolution: r})
	if len(a.Log) > keptCalls {
		a.Log = a.Log[1:]
	}
	return &a.Log[len(a.Log)-1]
}

// Settled is a call that is remembered, or nil.
func (a *Queue) Settled(id string) *SettledCall {
	for i := range a.Log {
		if a.Log[i].ID == id {
			return &a.Log[i]
		}
	}
	return nil
}

// Hide notes that the panel is not on screen: every item has to be looked at anew.
func (a *Queue) Hide() {
	for _, it := range a.Items {
		it.Since, it.looked = time.Time{}, false
	}
	a.drawn = nil
	a.stay++
}

// Painted notes that a scene stands on the screen since at.
func (a *Queue) Painted(seq uint64, at time.Time) {
	d, ok := a.drawn[seq]
	if !ok {
		return
	}
	for s := range a.drawn {
		if s <= seq {
			delete(a.drawn, s)
		}
	}
	it := a.Find(d.id)
	if it == nil || it.laid != d.laid || d.from >= d.to {
		return
	}
	if d.stay == a.stay && it.Since.IsZero() {
		it.Since = at
	}
	for i := d.from; i < d.to && i < len(it.seen); i++ {
		it.seen[i] = true
	}
	if !it.Complete {
		it.Complete = len(it.seen) > 0 && it.unseen() == 0
	}
}

// unseen counts the rows of an item that were not on screen yet.
func (it *Item) unseen() int {
	n := 0
	for _, s := range it.seen {
		if !s {
			n++
		}
	}
	return n
}

// PageDown goes to the next page of the item; behind the last one, to the first
// row that was not shown yet, or to the top.
func (a *Queue) PageDown(page int) {
	it := a.Current()
	if a.Scroll+page < len(it.Body.Rows) {
		a.Scroll += page
		return
	}
	a.Scroll = max(0, slices.Index(it.seen, false))
}
