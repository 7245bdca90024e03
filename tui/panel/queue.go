package panel

import (
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// MinAge is how long a call must have been on the screen without a break before it can be decided, so
// that a key that the person pressed before cannot decide it.
const MinAge = 300 * time.Millisecond

// Item is one call that waits for a person, and what the person has seen of it.
type Item struct {
	Call   broker.Escalation
	Body   Body
	laying int    // the width for which it is being laid out outside the event loop, or 0
	laid   int    // counts how often its rows were dropped to be laid out again
	seen   []bool // for each row of the body: whether the row was on the screen
	// Complete is set once every row was seen; it stays set when the width changes.
	Complete bool
	Since    time.Time // since when the item has been on the screen without a break, or zero
	looked   bool      // the item was on the screen for MinAge, and the panel has been open since
	// slipped is set while the panel shows the item only because the call shown before has ended
	// after the person began the line. It is cleared when the person chooses the item or begins a
	// line.
	slipped bool
	// Scopes are the scopes for which the approval could be remembered, once they are known. The
	// body then has rows for them.
	Scopes  []broker.Scope
	Scoped  bool // Scopes are known
	Scoping bool // Scopes have been asked for
	Sent    bool // a decision has been sent
	aside   bool // put aside: the strip does not show it
}

// Queue is the calls that wait for a person, the oldest first, and which of them the panel shows.
type Queue struct {
	Items  []*Item
	shown  string // ID of the item in the panel
	Scroll int    // the first row of that item on the screen
	Batch  *batch // the latest calls that were decided together; may be nil
	Agreed string // ID of the item that was shown when the person began the command
	Log    []SettledCall
	former []string             // IDs of calls that were put aside in the former view
	drawn  map[uint64]drawnRows // by scene: the rows that it shows, until it is painted
	stay   int                  // counts the times that an item came into the panel
	focus  focus                // the call that one key can decide
}

// drawnRows says which rows of which item a scene shows.
type drawnRows struct {
	id       string
	stay     int // Queue.stay when it was drawn
	laid     int // Item.laid when it was drawn
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

// Current returns the item in the panel: the chosen one, else the oldest; nil when no
// call waits.
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

// Begin notes that the person begins a line, about the item that the panel shows now.
func (a *Queue) Begin() {
	a.Agreed = ""
	if it := a.Current(); it != nil {
		a.Agreed, it.slipped = it.Call.ID, false
	}
}

// choose puts another item into the panel, and notes whether the former one was on the screen for long
// enough.
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

// seenFor reports whether an item has been on the screen for MinAge since the panel was opened.
func (it *Item) seenFor(now time.Time) bool {
	return it.looked || !it.Since.IsZero() && now.Sub(it.Since) >= MinAge
}

// Prefer puts the oldest call of a session into the panel. It changes nothing if the panel shows a call
// of the session already, or the session has no call that waits.
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

// LostText says how many waiting calls would not be carried out if a session ended or, for an empty
// session, if all sessions ended.
func (a *Queue) LostText(session broker.SessionID) string {
	n := 0
	for _, it := range a.Items {
		if session == "" || it.Call.Session == session {
			n++
		}
	}
	return LostCalls(n)
}

// LostCalls says that n calls will not be carried out, for the end of a sentence.
func LostCalls(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", and 1 call that waits will not be carried out"
	}
	return fmt.Sprintf(", and %d calls that wait will not be carried out", n)
}

// alike counts the other items of the same session that differ from an item only in details.
func (a *Queue) alike(it *Item) int {
	n := 0
	for _, x := range a.Items {
		if x != it && it.Call.Likeness != "" && x.Call.Likeness == it.Call.Likeness && x.Call.Session == it.Call.Session {
			n++
		}
	}
	return n
}

// index returns the place of an item in the list, or -1.
func (a *Queue) index(it *Item) int {
	for i, x := range a.Items {
		if x == it {
			return i
		}
	}
	return -1
}

// Step chooses the item n places further; after the last comes the first.
func (a *Queue) Step(n int, now time.Time) {
	it := a.Current()
	if it == nil {
		return
	}
	k := len(a.Items)
	a.choose(a.Items[((a.index(it)+n)%k+k)%k].Call.ID, now)
}

// Add adds a call that waits, in the order of the numbers, unless the queue has it already.
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
	a.Items[at] = &Item{Call: e, aside: slices.Contains(a.former, e.ID)}
}

// Remove drops a call that no longer waits and returns its item, or nil.
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

// Replace replaces the items by a list from the broker. Items that still wait keep what was seen of
// them.
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

// Update updates the members of a call that can change while it waits.
func (it *Item) Update(e broker.Escalation) {
	if it.Call.Unclaimed != e.Unclaimed || leftToPerson(it.Call) != leftToPerson(e) {
		it.Unlay() // its rows depend on these
	}
	it.Call.More, it.Call.Unclaimed, it.Call.Auto = e.More, e.Unclaimed, e.Auto
	it.Call.ExpiresAt, it.Call.HalfOver = e.ExpiresAt, e.HalfOver
}

// SettledCall is a call that was decided, and how it ended, once that is known.
type SettledCall struct {
	broker.Resolution
	Ending *broker.Ending
}

// keptCalls is how many settled calls are kept.
const keptCalls = 256

// Record adds a resolution to the kept ones and drops the oldest. For a call that is kept
// already it takes over only the number of its grant, which only the reply to the decision
// contains.
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

// Settled returns the settled call with an ID, or nil when it is not kept.
func (a *Queue) Settled(id string) *SettledCall {
	for i := range a.Log {
		if a.Log[i].ID == id {
			return &a.Log[i]
		}
	}
	return nil
}

// Hide notes that the panel is not on the screen. The person then has to look at every item again.
func (a *Queue) Hide() {
	for _, it := range a.Items {
		it.Since, it.looked = time.Time{}, false
	}
	a.drawn = nil
	a.stay++
}

// Painted notes that the terminal shows a scene, since the time at.
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

// PageDown goes to the next page of the item. From the last page it goes to the first row
// that was not shown yet, or to the top.
func (a *Queue) PageDown(page int) {
	it := a.Current()
	if a.Scroll+page < len(it.Body.Rows) {
		a.Scroll += page
		return
	}
	a.Scroll = max(0, slices.Index(it.seen, false))
}
