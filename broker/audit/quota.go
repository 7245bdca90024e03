package audit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Quota is the largest size of a log, in bytes. Its last part is reserved for calls that
// were under way when the rest was used up, so that their decisions and ends are recorded.
// The reserve is large enough, because a proxy limits the calls under way and long arguments
// are recorded as digests.
const (
	Quota   = 1 << 30
	reserve = 64 << 20
)

// Exhausted reports whether no new call may begin with a log of that size.
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
	return "continue in a new session, or with another --audit file; calls that are under way still end"
}

// quota counts how much of its quota a log has used.
type quota struct {
	limit   int64        // nothing new begins beyond it
	size    atomic.Int64 // of the log
	refused atomic.Int64 // calls and requests that were refused for it
	told    sync.Once
}

// Full returns an error when no new call may begin because there is no room for its records.
// It counts the refusals, and the log records their number when it is closed.
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

// admits refuses the first record of a model request, or of a request for packages, when the
// log is full. Tool calls are refused before they are judged.
func (l *Log) admits(r *Record) error {
	if (r.Plane == PlaneHTTP || r.Plane == PlanePackage) && (r.Decision == Allow || r.Decision == Deny) {
		return l.Full()
	}
	return nil
}

// recordRefusals records how many calls and requests were refused because the log was full.
func (l *Log) recordRefusals() {
	if n := l.quota.refused.Load(); n > 0 {
		_ = l.Append(context.Background(), Record{
			Plane: PlaneAudit, Decision: Noted, Reason: "refused, because the log was full", Detail: map[string]any{"refused": n},
		})
	}
}
