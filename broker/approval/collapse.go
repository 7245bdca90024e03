package approval

// Collapse counts a call that is refused because too many similar calls ask. It adds the call to
// the count of the newest similar item that waits, which a person sees. It reports false when no
// such item waits, so that the caller reports the refusal in another way. It never lets the call
// through.
func (q *Queue) Collapse(session, likeness string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	var newest *waiting
	for _, w := range q.pending {
		if w.item.Session == session && likeness != "" && w.item.Likeness == likeness &&
			(newest == nil || w.item.Number > newest.item.Number) {
			newest = w
		}
	}
	if newest == nil {
		return false
	}
	newest.item.More++
	item := newest.item
	q.announce(Change{Grown: &item})
	return true
}
