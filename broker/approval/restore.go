package approval

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// AnswerHold is how long an answer is kept for its call when no caller waits for it.
const AnswerHold = 5 * time.Minute

// maxSkipped is how many numbers are kept free at most for items that may still be restored.
const maxSkipped = 10_000

// Held is a restored call in the queue. People can decide it like any other. As long as
// the call was not made again, it has no caller. Its answer is then kept, for AnswerHold at
// most, for the first call of the session with the same digest and arguments.
type Held struct {
	q       *Queue
	w       *waiting
	done    <-chan Resolution // until a caller has the call
	claimed chan struct{}     // closed when the call is no longer held

	// Guarded by the queue's lock:
	resumed bool        // its client has asked for it
	used    bool        // a caller has taken the call, or its answer
	answer  *Resolution // kept until a caller takes it
}

// Left is what is left of the time of a waiting call, for the process that takes the call over.
type Left struct {
	Time     time.Duration // until the call expires
	Half     time.Duration // half of its whole time
	HalfOver bool          // half of its time is over
	Paused   time.Duration // how long its time was paused
}

// Left returns what is left of the time of a session's waiting calls, by id.
func (q *Queue) Left(session string) map[string]Left {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := map[string]Left{}
	for id, w := range q.pending {
		if w.item.Session == session {
			left[id] = Left{Time: time.Until(q.current(w).ExpiresAt), Half: w.half, HalfOver: w.item.HalfOver, Paused: w.paused + q.pause(w)}
		}
	}
	return left
}

// Restore puts a call back that waited in a former process. The call keeps its id, the time when it
// was asked, and its number unless that is taken. left is what is left of its time; nil: the time
// starts again, because the process was killed. The caller must call Wait.
func (q *Queue) Restore(f Escalation, left *Left) (*Held, error) {
	if f.Digest == "" || f.ID == "" {
		return nil, errors.New("restore a call: it has no digest or no id")
	}
	timeout := f.Timeout
	if timeout <= 0 {
		timeout = q.options.Timeout
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	f.Number, f.ExpiresAt = q.renumber(f.Number), time.Now().Add(timeout)
	f.Restored, f.Unclaimed = true, true
	w := q.newWaiting(f)
	if left != nil {
		w.item.ExpiresAt, w.item.HalfOver = w.began.Add(left.Time), left.HalfOver
		w.half, w.paused = left.Half, left.Paused
	}
	h := &Held{q: q, w: w, done: w.done, claimed: make(chan struct{})}
	q.pending[f.ID], q.held[f.ID] = w, h
	item := w.item
	q.announce(Change{Asked: &item})
	return h, nil
}

// renumber gives an item its former number, if no other item has had it here, else the next
// one.
func (q *Queue) renumber(n int) int {
	switch {
	case n > q.number && n-q.number <= maxSkipped:
		for skipped := q.number + 1; skipped < n; skipped++ {
			q.skipped[skipped] = true
		}
		q.number = n
	case q.skipped[n]:
		delete(q.skipped, n)
	default:
		q.number++
		n = q.number
	}
	return n
}

// Wait waits until the call is settled without a caller, and returns the resolution. It
// reports false when a caller has taken over the call; the caller then gets the resolution.
// When ctx ends, the call is withdrawn.
func (h *Held) Wait(ctx context.Context) (Resolution, bool) {
	return h.q.await(ctx, h.w, h.done, h.claimed, "broker")
}

// Used waits until a kept answer was taken by its call or has expired, and reports whether
// it was taken.
func (h *Held) Used(ctx context.Context) bool {
	timer := time.NewTimer(AnswerHold)
	defer timer.Stop()
	select {
	case <-h.claimed:
	case <-timer.C:
	case <-ctx.Done():
	}
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	h.drop()
	return h.used
}

// Forget drops a kept answer.
func (h *Held) Forget() {
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	h.drop()
}

// drop removes the held call. The caller holds the lock.
func (h *Held) drop() {
	if h.q.held[h.w.item.ID] == h {
		delete(h.q.held, h.w.item.ID)
		close(h.claimed)
	}
}

// Resume reports, once, whether a session's call with that ticket is held, which means that
// it was never let through.
func (q *Queue) Resume(session, ticket string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range q.held {
		if ticket != "" && h.w.item.Ticket == ticket && h.w.item.Session == session && !h.resumed {
			h.resumed = true
			return true
		}
	}
	return false
}

// Abandon removes a resumed call that has ended without a decision about its item, so that nobody
// can decide it any more.
func (q *Queue) Abandon(session, ticket, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, h := range q.held {
		if !h.resumed || h.w.item.Ticket != ticket || h.w.item.Session != session {
			continue
		}
		if w := q.pending[id]; w != nil {
			q.settleLocked(w, Withdrawn, Answer{By: "caller", Reason: reason})
		}
		h.drop()
	}
}

// Holds reports whether exactly the same call is held. A decision about the held call is
// then a decision about this one.
func (q *Queue) Holds(e Escalation) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.heldFor(e) != nil
}

// heldFor returns the held call that is exactly the same, or nil. The caller holds the lock.
func (q *Queue) heldFor(r Escalation) *Held {
	var found *Held
	for _, h := range q.held {
		i := &h.w.item
		same := i.Session == r.Session && i.Plane == r.Plane && i.Digest == r.Digest && bytes.Equal(i.Arguments, r.Arguments)
		if same && !h.stale() && (found == nil || i.Number < found.w.item.Number) {
			found = h
		}
	}
	return found
}

// claim gives a caller the held call that is exactly the same as its own, or nil. The
// caller holds the lock.
func (q *Queue) claim(r Escalation) *waiting {
	found := q.heldFor(r)
	if found == nil {
		return nil
	}
	w := found.w
	w.done = make(chan Resolution, 1) // the former channel stays with Wait
	found.used = true
	found.drop()
	if found.answer != nil {
		w.done <- *found.answer
		return w
	}
	w.item.Unclaimed = false
	w.item.Offers, w.item.Call, w.item.Likeness, w.item.Program = r.Offers, r.Call, r.Likeness, r.Program
	item := w.item
	q.announce(Change{Grown: &item})
	return w
}

// stale reports whether a kept answer has expired although its timer has not run yet.
func (h *Held) stale() bool {
	return h.answer != nil && time.Since(h.answer.At) >= AnswerHold
}
