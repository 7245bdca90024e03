package audit

import "context"

// Commit is Append for callers of whom there is mostly one at a time. When nobody
// else has a record to write, the caller writes its own, which saves waking the
// writer and being woken by it. The price is that a disk which does not answer
// holds this caller for as long as it likes: who uses Commit must bound the wait
// by other means. All other callers are refused in time, as ever.
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

// alone writes an entry unless somebody else has something to write, or had a
// moment ago: those who come together share one sync of the writer.
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
