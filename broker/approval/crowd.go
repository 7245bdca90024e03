package approval

import "fmt"

// DefaultBytes is how many bytes of one session's calls may wait at once, in memory and
// written down beside it.
const DefaultBytes = 64 << 20

// FullError means that too many calls of a session wait, or that they are too long.
type FullError struct {
	Limit int // of calls; 0 when it is their bytes
	Bytes int // of bytes
}

func (e *FullError) Error() string {
	if e.Limit == 0 {
		return fmt.Sprintf("calls of this session with nearly %d MiB wait for a person already", e.Bytes>>20)
	}
	return fmt.Sprintf("%d calls of this session wait for a person already", e.Limit)
}

// Hint is the next thing to do.
func (e *FullError) Hint() string { return "answer the waiting calls first" }

// size is how many bytes a waiting call takes.
func (r *Escalation) size() int {
	n := len(r.Arguments) + len(r.Requested)
	if r.Effect != nil {
		for _, l := range r.Effect.Lines {
			n += len(l.Text)
		}
	}
	return n
}

// crowded returns an error if one more call of a session would be too many.
func (q *Queue) crowded(r Escalation) error {
	n, bytes := 0, r.size()
	for _, w := range q.pending {
		if w.item.Session == r.Session {
			n++
			bytes += w.item.size()
		}
	}
	switch {
	case n >= q.options.Limit:
		return &FullError{Limit: q.options.Limit}
	case bytes > q.options.Bytes:
		return &FullError{Bytes: q.options.Bytes}
	}
	return nil
}
