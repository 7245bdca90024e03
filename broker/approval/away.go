package approval

import "time"

// SetAway says whether nobody is there who could decide. Meanwhile the time of waiting tool
// calls stands still, for Options.Away at most. That of model requests runs on: an agent drops
// a connection that says nothing.
func (q *Queue) SetAway(away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if away == !q.awaySince.IsZero() {
		return
	}
	if away {
		q.awaySince = q.options.Clock.Now()
		return
	}
	for _, w := range q.pending {
		stood := q.standing(w)
		w.stood += stood
		w.item.ExpiresAt = w.item.ExpiresAt.Add(stood)
	}
	q.awaySince = time.Time{}
	for _, w := range q.pending {
		select {
		case w.moved <- struct{}{}:
		default:
		}
		item := w.item
		q.announce(Change{Grown: &item})
	}
}

// standing returns for how long the time of an item has stood still since nobody is there. The
// caller holds the lock.
func (q *Queue) standing(w *waiting) time.Duration {
	if q.awaySince.IsZero() || w.item.Plane != "tool" {
		return 0
	}
	from := q.awaySince
	if from.Before(w.began) {
		from = w.began
	}
	return max(0, min(q.options.Clock.Now().Sub(from), q.options.Away-w.stood))
}

// current returns an item as it is now: with the time until which it waits if somebody comes at
// this moment. The caller holds the lock.
func (q *Queue) current(w *waiting) Escalation {
	item := w.item
	item.ExpiresAt = item.ExpiresAt.Add(q.standing(w))
	return item
}

// left returns how long an item waits at least, if nobody comes or goes.
func (q *Queue) left(w *waiting) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	end := w.item.ExpiresAt
	if !q.awaySince.IsZero() && w.item.Plane == "tool" {
		end = end.Add(max(0, q.options.Away-w.stood))
	}
	return end.Sub(q.options.Clock.Now())
}
