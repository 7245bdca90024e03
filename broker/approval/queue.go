package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// DefaultTimeout is how long a call waits unless Options or the call set another time.
const DefaultTimeout = 300 * time.Second

// DefaultLimit is how many calls of one session may wait at once.
const DefaultLimit = 200

// maxSettled is how many resolutions are kept for late answers.
const maxSettled = 1024

// Options configure a queue. The zero value is usable.
type Options struct {
	Timeout time.Duration // of a request that names none; 0 means DefaultTimeout
	Away    time.Duration // how long the time of a tool call is paused while nobody is there
	Limit   int           // waiting calls of one session; 0 means DefaultLimit
	Bytes   int           // of the waiting calls of one session; 0 means DefaultBytes
}

// Queue is the list of waiting calls. It is safe for concurrent use.
type Queue struct {
	options Options

	mu     sync.Mutex
	closed bool
	number int
	// awaySince is the time since when nobody is there to decide; zero: somebody is.
	awaySince time.Time
	pending   map[string]*waiting
	settled   map[string]*settledItem
	order     []string // of settled, oldest first
	streams   map[*stream]struct{}
	held      map[string]*Held // former calls without a caller
	skipped   map[int]bool     // numbers left free for former calls
}

// waiting is an item and the caller that waits for it.
type waiting struct {
	item    Escalation
	began   time.Time       // in this process
	half    time.Duration   // half of its time
	paused  time.Duration   // how long its time was paused, without the present pause
	resumed chan struct{}   // capacity 1, lossy: the pause of its time has ended
	done    chan Resolution // never dropped: has room for the one resolution
}

func (q *Queue) newWaiting(e Escalation) *waiting {
	now := time.Now()
	return &waiting{item: e, began: now, half: e.ExpiresAt.Sub(now) / 2, resumed: make(chan struct{}, 1), done: make(chan Resolution, 1)}
}

// New returns an empty queue.
func New(o Options) *Queue {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	return &Queue{
		options: o,
		pending: map[string]*waiting{},
		settled: map[string]*settledItem{},
		streams: map[*stream]struct{}{},
		held:    map[string]*Held{},
		skipped: map[int]bool{},
	}
}

// Ask puts a call into the queue and waits until it is settled. When ctx ends
// first the call is withdrawn. An error means that the call never waited.
func (q *Queue) Ask(ctx context.Context, r Escalation) (Resolution, error) {
	if err := ctx.Err(); err != nil {
		return Resolution{}, fmt.Errorf("ask for approval: %w", err)
	}
	w, err := q.enqueue(r)
	if err != nil {
		return Resolution{}, err
	}
	res, _ := q.await(ctx, w, w.done, nil, "caller")
	return w.told(res), nil
}

// await waits until an item is settled, and settles it when its time is over or ctx ends. It
// returns the resolution, or false when the item is claimed first.
func (q *Queue) await(ctx context.Context, w *waiting, done <-chan Resolution, claimed <-chan struct{}, by string) (Resolution, bool) {
	for open := true; open; {
		timer := time.NewTimer(q.next(w))
		select {
		case res := <-done:
			timer.Stop()
			return res, true
		case <-claimed:
			timer.Stop()
			return Resolution{}, false
		case <-w.resumed:
		case <-timer.C:
			if q.left(w) <= 0 {
				q.settle(w.item.ID, Expired, "deadline", "nobody answered in time")
				open = false
			}
		case <-ctx.Done():
			q.settle(w.item.ID, Withdrawn, by, cause(ctx))
			open = false
		}
		timer.Stop()
	}
	// Somebody may have answered in the meantime; done has the resolution that counts.
	select {
	case res := <-done:
		return res, true
	case <-claimed:
		return Resolution{}, false
	}
}

// told returns the resolution for the caller of the call. For a restored call it contains
// the effect that was shown.
func (w *waiting) told(res Resolution) Resolution {
	if w.item.Restored {
		res.Shown = w.item.Effect
	}
	return res
}

func cause(ctx context.Context) string {
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err.Error()
	}
	return "the call was cancelled"
}

// enqueue adds an item and reports it to all subscribers.
func (q *Queue) enqueue(r Escalation) (*waiting, error) {
	if r.Digest == "" {
		return nil, errors.New("ask for approval: the call has no digest")
	}
	if err := r.identify(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	if w := q.claim(r); w != nil {
		return w, nil
	}
	if err := q.crowded(r); err != nil {
		return nil, err
	}
	w := q.add(r)
	item := w.item
	q.announce(Change{Asked: &item})
	return w, nil
}

// add gives a call its number. The caller holds the lock.
func (q *Queue) add(e Escalation) *waiting {
	timeout := e.Timeout
	if timeout <= 0 {
		timeout = q.options.Timeout
	}
	q.number++
	now := time.Now()
	e.Number, e.AskedAt, e.ExpiresAt = q.number, now, now.Add(timeout)
	w := q.newWaiting(e)
	q.pending[e.ID] = w
	return w
}

// Settle settles a call that nobody has to be asked about. The call gets a number and its
// answer at once, and its ending is reported like any other.
func (q *Queue) Settle(e Escalation, a Answer) (Escalation, Resolution, error) {
	if err := e.identify(); err != nil {
		return e, Resolution{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return e, Resolution{}, ErrClosed
	}
	w := q.add(e)
	outcome := Denied
	if a.Approve {
		outcome = Approved
	}
	res := q.settleLocked(w, outcome, a)
	return w.item, res, nil
}

// Review sets the result of the automatic approval for a waiting call.
func (q *Queue) Review(id string, r AutoReview) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.pending[id]; w != nil {
		w.item.Auto = &r
		item := w.item
		q.announce(Change{Grown: &item})
	}
}

// Decide answers an item. The first answer wins: won reports whether this was the first
// one, and the resolution is that of the first one. An unknown id, or another digest than
// the item's, is an error and settles nothing. A call with an effect can be approved only
// with Answer.
func (q *Queue) Decide(id, digest string, approve bool, by, reason string) (res Resolution, won bool, err error) {
	return q.Answer(id, digest, Answer{Approve: approve, By: by, Reason: reason})
}

// Answer is Decide with all members of an answer.
func (q *Queue) Answer(id, digest string, a Answer) (res Resolution, won bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.pending[id]
	if !ok {
		if s, ok := q.settled[id]; ok {
			return s.res, false, nil
		}
		return Resolution{}, false, ErrUnknown
	}
	if digest != w.item.Digest {
		return Resolution{}, false, ErrDigest
	}
	if a.Approve && a.Effect != w.item.Fingerprint() {
		return Resolution{}, false, ErrEffect
	}
	// The timer of an overdue item may not have run yet, but the deadline applies.
	if !time.Now().Before(q.current(w).ExpiresAt) {
		return q.settleLocked(w, Expired, Answer{By: "deadline", Reason: "nobody answered in time"}), false, nil
	}
	outcome := Denied
	if a.Approve {
		outcome = Approved
	}
	return q.settleLocked(w, outcome, a), true, nil
}

// settle resolves an item if it still waits.
func (q *Queue) settle(id string, outcome Outcome, by, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w, ok := q.pending[id]; ok {
		q.settleLocked(w, outcome, Answer{By: by, Reason: reason})
	}
}

func (q *Queue) settleLocked(w *waiting, outcome Outcome, a Answer) Resolution {
	now := time.Now()
	res := Resolution{
		ID: w.item.ID, Number: w.item.Number, Session: w.item.Session, Ticket: w.item.Ticket, Digest: w.item.Digest,
		Outcome: outcome, By: a.By, Client: a.Client, Reason: a.Reason, Remembered: a.Remembered, Grant: a.Grant, Automatic: a.Automatic, Evidence: a.Evidence,
		At: now, Waited: max(0, now.Sub(w.item.AskedAt)), Restored: w.item.Restored,
	}
	if h := q.held[res.ID]; h != nil {
		if res.Kept = outcome == Approved || outcome == Denied; res.Kept {
			kept := res
			h.answer = &kept
		} else {
			delete(q.held, res.ID) // Wait returns the resolution
		}
	}
	delete(q.pending, res.ID)
	q.settled[res.ID] = &settledItem{res: res}
	q.order = append(q.order, res.ID)
	if len(q.order) > maxSettled {
		delete(q.settled, q.order[0])
		q.order = q.order[1:]
	}
	w.done <- res // has room: an item is settled once
	q.announce(Change{Settled: &res})
	return res
}

// Pending lists what waits, oldest first.
func (q *Queue) Pending() []Escalation {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pendingLocked()
}

func (q *Queue) pendingLocked() []Escalation {
	items := make([]Escalation, 0, len(q.pending))
	for _, w := range q.pending {
		items = append(items, q.current(w))
	}
	slices.SortFunc(items, func(a, b Escalation) int { return a.Number - b.Number })
	return items
}

// Withdraw withdraws all waiting calls of a session, for example because its tab was
// closed. It returns how many there were.
func (q *Queue) Withdraw(session, reason string) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.pending {
		if w.item.Session == session {
			q.settleLocked(w, Withdrawn, Answer{By: "broker", Reason: reason})
			n++
		}
	}
	return n
}

// Close withdraws everything and refuses new calls.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	for _, w := range q.pending {
		q.settleLocked(w, Withdrawn, Answer{By: "broker", Reason: "the program is ending"})
	}
	for s := range q.streams {
		q.drop(s)
	}
}

// Find returns a waiting item.
func (q *Queue) Find(id string) (Escalation, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w, ok := q.pending[id]
	if !ok {
		return Escalation{}, false
	}
	return w.item, true
}
