package audit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Quota is how long one log may get. The last part of it is kept for what was under way
// when the rest was used up, so that its decisions and ends are still on record: a
// proxy has no more under way than that, and long arguments stand there as digests.
const (
	Quota   = 1 << 30
	reserve = 64 << 20
)

// Exhausted tells whether nothing new may begin with a log of that size.
func Exhausted(size int64) bool { return size >= Quota-reserve }

// FullError means that a log has reached its quota.
type FullError struct {
	Path  string
	Quota int64
}

func (e *FullError) Error() string {
	return fmt.Sprintf("audit log %s has used up its %d MiB", e.Path, e.Quota>>20)
}

// Hint is the next thing to do.
func (e *FullError) Hint() string {
	return "go on in a new session, or with another --audit file; what is under way still ends"
}

// quota is how much of it a log has used.
type quota struct {
	limit   int64        // nothing new begins beyond it
	size    atomic.Int64 // of the log
	refused atomic.Int64 // calls and requests that were refused for it
	told    sync.Once
}

// Full returns an error when nothing new may begin, because there is no room for its
// records. What is refused for it is counted, and the log says how often when it is
// closed.
func (l *Log) Full() error {
	if l.quota.size.Load() < l.quota.limit {
		return nil
	}
	l.quota.refused.Add(1)
	full := &FullError{Path: l.w.path, Quota: l.options.Quota}
	l.quota.told.Do(func() {
		_ = l.Post(context.Background(), Record{
			Plane: PlaneAudit, Decision: Noted, Reason: full.Error() + ": from here on calls and requests are refused, and counted",
		})
		if l.options.State != nil {
			l.options.State(full)
		}
	})
	return full
}

// admits refuses the first record of a model request when the log is full. Tool calls
// are refused before they are judged.
func (l *Log) admits(r *Record) error {
	if r.Plane == PlaneHTTP && (r.Decision == Allow || r.Decision == Deny) {
		return l.Full()
	}
	return nil
}

// sayRefused records how much was refused because the log was full.
func (l *Log) sayRefused() {
	if n := l.quota.refused.Load(); n > 0 {
		_ = l.Append(context.Background(), Record{
			Plane: PlaneAudit, Decision: Noted, Reason: "refused, because the log was full", Detail: map[string]any{"refused": n},
		})
	}
}
