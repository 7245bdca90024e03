package approval

import "time"

// SetAway sets whether nobody is there to decide. While nobody is, the time of waiting tool calls
// is paused, for Options.Away at most. The time of other requests is not, because an agent drops a
// connection on which nothing comes.
func (q *Queue) SetAway(away bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if away == !q.awaySince.IsZero() {
		return
	}
	if away {
		q.awaySince = time.Now()
		return
	}
	for _, w := range q.pending {
		pause := q.pause(w)
		w.paused += pause
		w.item.ExpiresAt = w.item.ExpiresAt.Add(pause)
	}
	q.awaySince = time.Time{}
	for _, w := range q.pending {
		select {
		case w.resumed <- struct{}{}:
		default:
		}
		item := w.item
		q.announce(Change{Grown: &item})
	}
}

// pause returns for how long the time of an item has been paused since the last person left.
// The caller holds the lock.
func (q *Queue) pause(w *waiting) time.Duration {
	if q.awaySince.IsZero() || w.item.Plane != "tool" {
		return 0
	}
	from := q.awaySince
	if from.Before(w.began) {
		from = w.began
	}
	return max(0, min(time.Since(from), q.options.Away-w.paused))
}

// current returns an item with the time until which it waits if somebody comes back now. The caller
// holds the lock.
func (q *Queue) current(w *waiting) Escalation {
	item := w.item
	item.ExpiresAt = item.ExpiresAt.Add(q.pause(w))
	return item
}

// left returns how long an item still waits if nobody comes or goes.
func (q *Queue) left(w *waiting) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.leftLocked(w)
}

// next returns how long to wait until half of an item's time is over. Once it is over, next
// announces that and returns the rest of the time. A paused time is never past its half.
func (q *Queue) next(w *waiting) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.leftLocked(w)
	if left > w.half {
		return left - w.half
	}
	if !w.item.HalfOver && q.pending[w.item.ID] == w {
		w.item.HalfOver = true
		item := q.current(w)
		q.announce(Change{Grown: &item})
	}
	return left
}

func (q *Queue) leftLocked(w *waiting) time.Duration {
	end := w.item.ExpiresAt
	if !q.awaySince.IsZero() && w.item.Plane == "tool" {
		end = end.Add(max(0, q.options.Away-w.paused))
	}
	return time.Until(end)
}
