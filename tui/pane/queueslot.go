package pane

import (
	"slices"
	"time"
)

// Reserve keeps a place in the queue for what is still to come, so that keys
// pressed meanwhile stay behind it. What is behind it waits until the place is
// filled or given up.
func (q *InputQueue) Reserve() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slots++
	q.items = append(q.items, keystrokes{slot: q.slots})
	return q.slots
}

// Fill puts several things into a reserved place, with a pause before each but
// the first. It reports false when the place is gone or they do not fit; the
// place is given up then.
func (q *InputQueue) Fill(slot int, steps []string, pause time.Duration) bool {
	q.mu.Lock()
	defer func() {
		q.mu.Unlock()
		signal(q.ready)
	}()
	at := q.place(slot)
	if at < 0 {
		return false
	}
	var filled []keystrokes
	total := 0
	for i, s := range steps {
		k := keystrokes{data: []byte(s)}
		if i > 0 {
			k.pause = pause
		}
		if i < len(steps)-1 {
			k.tail = tailOf(s)
		}
		filled = append(filled, k)
		total += len(s)
	}
	if q.size+total > QueueLimit {
		q.items = slices.Delete(q.items, at, at+1)
		return false
	}
	q.items = slices.Replace(q.items, at, at+1, filled...)
	q.size += total
	return true
}

// Release gives a reserved place up.
func (q *InputQueue) Release(slot int) {
	q.mu.Lock()
	if at := q.place(slot); at >= 0 {
		q.items = slices.Delete(q.items, at, at+1)
	}
	q.mu.Unlock()
	signal(q.ready)
}

func (q *InputQueue) place(slot int) int {
	return slices.IndexFunc(q.items, func(k keystrokes) bool { return k.slot == slot && slot != 0 })
}
