package approval

// Collapse counts a call that is refused because too many like it ask, on the
// newest waiting item that is like it, where a person sees the number. It
// reports false when none waits; the caller then says it in another way. The
// call itself is never let through by it.
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
