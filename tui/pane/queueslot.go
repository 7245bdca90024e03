package pane

import (
	"slices"
	"time"
)

// Reserve reserves a place in the queue for data that is still to come, so that keys
// pressed meanwhile come after it. They wait until the place is filled or released.
func (q *InputQueue) Reserve() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.slots++
	q.items = append(q.items, keystrokes{slot: q.slots})
	return q.slots
}

// Fill puts several steps into a reserved place, with a pause before each but the first.
// It reports false if the place no longer exists. If the steps do not fit, it releases the
// place and reports false.
func (q *InputQueue) Fill(slot int, steps []string, pause time.Duration) bool {
	q.mu.Lock()
	defer func() {
		q.mu.Unlock()
		signal(q.ready)
	}()
	at := q.slotIndex(slot)
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

// Release removes a reserved place, so that the input after it can be written.
func (q *InputQueue) Release(slot int) {
	q.mu.Lock()
	if at := q.slotIndex(slot); at >= 0 {
		q.items = slices.Delete(q.items, at, at+1)
	}
	q.mu.Unlock()
	signal(q.ready)
}

func (q *InputQueue) slotIndex(slot int) int {
	return slices.IndexFunc(q.items, func(k keystrokes) bool { return k.slot == slot && slot != 0 })
}
