package audit

import "context"

// Commit is Append for a caller that is mostly alone. When no other record waits,
// the caller writes its own, which saves waking the writer and being woken by it:
// a lone request through the model proxy then takes 530 µs instead of 610, and 220
// instead of 250 without sync. That is why there are two ways to append.
// The price is that a disk which does not answer blocks this caller without limit:
// it must bound the wait by other means. All other callers are still refused in
// time.
func (l *Log) Commit(ctx context.Context, r Record) error {
	e, err := l.newEntry(&r)
	if err != nil {
		return err
	}
	if written, err := l.alone(e); written {
		return err
	}
	return l.await(ctx, e)
}

// alone writes an entry unless other records wait, or did a moment ago: records
// that arrive together share one sync of the writer.
func (l *Log) alone(e *entry) (written bool, err error) {
	if len(l.queue) > 0 || !l.writing.TryLock() {
		return false, nil
	}
	defer l.writing.Unlock()
	select {
	case <-l.closing:
		return true, ErrClosed
	default:
	}
	if l.w.crowd > 0 {
		return false, nil
	}
	l.w.commit([]*entry{e})
	err = <-e.done
	e.release()
	return true, err
}
