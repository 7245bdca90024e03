package pane

// putBack puts taken keystrokes back to the front of the queue, without the bytes that were
// written.
func (q *InputQueue) putBack(k keystrokes, written int) {
	if written > 0 {
		k.pause = 0
	}
	k.data = k.data[written:]
	if len(k.data) == 0 {
		return
	}
	q.mu.Lock()
	q.items = append([]keystrokes{k}, q.items...)
	q.size += len(k.data)
	q.mu.Unlock()
	signal(q.ready)
}

// saved returns the waiting input, without the places that views have reserved.
func (q *InputQueue) saved() []savedInput {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []savedInput
	for _, k := range q.items {
		if k.slot == 0 {
			all = append(all, savedInput{k.pause, k.data, k.tail})
		}
	}
	return all
}

// load puts what saved returned into an empty queue.
func (q *InputQueue) load(all []savedInput) {
	q.mu.Lock()
	for _, k := range all {
		q.items = append(q.items, keystrokes{pause: k.Pause, data: k.Data, tail: k.Tail})
		q.size += len(k.Data)
	}
	q.mu.Unlock()
	signal(q.ready)
}
