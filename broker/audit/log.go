package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// DefaultDeadline is how long a caller waits for its record to be durable.
const DefaultDeadline = 5 * time.Second

// queued is how many records may wait for the writer.
const queued = 1024

// Options configure a log. The zero value is the safe one.
type Options struct {
	Deadline time.Duration // 0 means DefaultDeadline
	NoSync   bool          // leave it to the system when records reach the disk
	Quota    int64         // bytes; 0 means the constant of that name
	Secrets  []string      // known values that never reach the file
	FS       FS            // nil means the real one
	Now      func() time.Time
	// State is called from the writer when the log stops working, with the
	// cause, and with nil when it works again. It must not block.
	State func(error)
}

// Log is an open audit log. It is safe for concurrent use.
type Log struct {
	options Options
	redact  *Redactor

	queue   chan *entry // must-deliver, bounded by queued
	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	later   later
	quota   quota

	writing sync.Mutex // held while writing: by the writing goroutine, or by Commit
	w       writer     // guarded by writing
}

// ErrClosed is returned by Append on a closed log.
var ErrClosed = errors.New("audit log is closed")

// problem returns the error of a record that did not become durable, or of a log that
// cannot be opened; op is "open", "write", "sync" or "encode".
func problem(path, op string, err error, next string) error {
	return fault.New(next, "audit log %s: %s: %w", path, op, err)
}

// Open opens or creates the log at path and starts its writer. It moves a half-written end
// that a crash has left into another file. It refuses a log whose last lines are missing.
func Open(path string, o Options) (*Log, error) {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Quota <= 0 {
		o.Quota = Quota
	}
	if o.FS == nil {
		o.FS = osFS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Log{
		options: o,
		redact:  NewRedactor(o.Secrets),
		queue:   make(chan *entry, queued),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		w:       writer{path: path, fs: o.FS, sync: !o.NoSync, state: o.State},
		later:   later{due: make(chan struct{}, 1)},
	}
	l.w.later, l.w.quota, l.quota.limit = &l.later, &l.quota, o.Quota-min(reserve, o.Quota/2)
	recovered, err := l.w.open()
	if err != nil {
		return nil, err
	}
	go l.run()
	if recovered == nil {
		return l, nil
	}
	note := Record{Plane: PlaneAudit, Decision: Recovered, Detail: recovered}
	if err := l.Append(context.Background(), note); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Append writes a record and returns when it is durable. After an error the caller must not
// do what the record describes.
func (l *Log) Append(ctx context.Context, r Record) error {
	e, err := l.newEntry(&r)
	if err != nil {
		return err
	}
	return l.await(ctx, e)
}

// newEntry encodes a record.
func (l *Log) newEntry(r *Record) (*entry, error) {
	if err := l.admits(r); err != nil {
		return nil, err
	}
	e := newEntry()
	var err error
	if e.body, err = l.encode(e.body[:0], r); err != nil {
		return nil, err
	}
	return e, nil
}

// encode appends a record, as it is written.
func (l *Log) encode(dst []byte, r *Record) ([]byte, error) {
	if r.Time.IsZero() {
		r.Time = l.options.Now()
	}
	body, err := r.encode(dst, l.redact)
	if err != nil {
		return nil, problem(l.w.path, "encode", err, "")
	}
	return body, nil
}

// await hands an entry to the writer and waits for its answer.
func (l *Log) await(ctx context.Context, e *entry) error {
	select {
	case <-l.closing:
		return ErrClosed
	default:
	}
	e.timer.Reset(l.options.Deadline)
	defer e.timer.Stop()
	select {
	case l.queue <- e:
	case <-l.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("audit log: %w", ctx.Err())
	case <-e.timer.C:
		return l.late()
	}
	select {
	case err := <-e.done:
		e.release()
		return err
	case <-l.stopped:
		// The writer has answered everything that it took before it stopped.
		select {
		case err := <-e.done:
			return err
		default:
			return ErrClosed
		}
	case <-ctx.Done():
		return e.abandon(fmt.Errorf("audit log: %w", ctx.Err()))
	case <-e.timer.C:
		return e.abandon(l.late())
	}
}

func (l *Log) late() error {
	return problem(l.w.path, "write", fmt.Errorf("not durable within %v", l.options.Deadline), "find out why the disk does not answer")
}

// Close writes what is queued and the closing line, and releases the file.
func (l *Log) Close() error {
	l.once.Do(func() {
		l.recordRefusals()
		close(l.closing)
	})
	<-l.stopped
	return l.w.closed
}
