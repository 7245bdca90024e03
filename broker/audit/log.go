// Package audit keeps the record of every decision: what was asked, what was
// judged, who decided, and that it was so before anything took effect.
//
// The log is a file of JSON lines. Every line carries its number and the
// SHA-256 of the line before it, so an edit, a gap or a reordering anywhere
// breaks the chain. Beside the log stands a small head file with the number,
// the hash and the end of the last line; a log that is closed ends in a line
// that says so. Between them they show when lines are missing from the end.
//
// Append returns when the record is on the disk. Callers that arrive together
// share one write and one sync; Post is for records that nobody waits for. When the disk is full, gone or too slow, or
// when somebody else changed the file, Append returns an error and the log
// stays as it was; whoever asked must then refuse what it was about to do. The
// log works again as soon as the cause is gone.
package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultDeadline is how long a caller waits for its record to be durable.
const DefaultDeadline = 5 * time.Second

const (
	// queued is how many records may wait for the writer.
	queued = 1024
	// lingerTime is how long a record that nobody waits for may wait for one
	// that shares its way to the disk.
	lingerTime = 5 * time.Millisecond
)

// Options configure a log. The zero value is the safe one.
type Options struct {
	Deadline time.Duration // 0 means DefaultDeadline
	NoSync   bool          // leave it to the system when records reach the disk
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

	w writer // owned by the writing goroutine after Open
}

// ErrClosed is returned by Append on a closed log.
var ErrClosed = errors.New("audit log is closed")

// Error is a record that did not become durable, or a log that cannot be
// opened.
type Error struct {
	Path string
	Op   string // "open", "write", "sync"
	Err  error
	Next string
}

func (e *Error) Error() string { return fmt.Sprintf("audit log %s: %s: %v", e.Path, e.Op, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Hint is the next thing to do.
func (e *Error) Hint() string { return e.Next }

// Open opens or creates the log at path and starts its writer. What a crash
// left half-written at the end is moved aside. A log whose last lines are
// missing is not continued.
func Open(path string, o Options) (*Log, error) {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
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
	}
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

// Append writes a record and returns when it is durable. An error means that
// the caller must not do what the record speaks of.
func (l *Log) Append(ctx context.Context, r Record) error {
	e, err := l.entry(r)
	if err != nil {
		return err
	}
	e.wait(l.options.Deadline)
	if err := l.enqueue(ctx, e, e.timer.C); err != nil {
		e.timer.Stop()
		return err
	}
	select {
	case err := <-e.done:
		e.timer.Stop()
		entries.Put(e)
		return err
	case <-l.stopped:
		// The writer answered everything it took before it stopped.
		select {
		case err := <-e.done:
			return err
		default:
			return ErrClosed
		}
	case <-ctx.Done():
		return l.abandon(e, fmt.Errorf("audit log: %w", ctx.Err()))
	case <-e.timer.C:
		return l.abandon(e, l.late())
	}
}

// Post hands over a record that nothing depends on, such as how something ended.
// It is written after all records before it: together with the next that somebody
// waits for, and after lingerTime at the latest. Post waits only for a place in
// the queue; that the record could not be written is told to Options.State.
func (l *Log) Post(ctx context.Context, r Record) error {
	e, err := l.entry(r)
	if err != nil {
		return err
	}
	select {
	case <-l.closing:
		return ErrClosed
	default:
	}
	select {
	case l.queue <- e:
		return nil
	default:
	}
	timer := time.NewTimer(l.options.Deadline)
	defer timer.Stop()
	return l.enqueue(ctx, e, timer.C)
}

// entry renders a record.
func (l *Log) entry(r Record) (*entry, error) {
	if r.Time.IsZero() {
		r.Time = l.options.Now()
	}
	e := newEntry()
	var err error
	if e.body, err = r.encode(e.body, l.redact); err != nil {
		return nil, &Error{Path: l.w.path, Op: "encode", Err: err}
	}
	return e, nil
}

// enqueue gives an entry to the writer until the deadline.
func (l *Log) enqueue(ctx context.Context, e *entry, deadline <-chan time.Time) error {
	select {
	case <-l.closing:
		return ErrClosed
	default:
	}
	select {
	case l.queue <- e:
		return nil
	case <-l.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("audit log: %w", ctx.Err())
	case <-deadline:
		return l.late()
	}
}

func (l *Log) late() error {
	return &Error{
		Path: l.w.path, Op: "write", Err: fmt.Errorf("not durable within %v", l.options.Deadline),
		Next: "see why the disk does not answer",
	}
}

// abandon takes an entry back. One that the writer has begun with may still
// become durable; the caller refuses all the same, which is the safe side.
func (l *Log) abandon(e *entry, err error) error {
	e.timer.Stop()
	e.taken.CompareAndSwap(false, true)
	return err
}

// Close writes what is queued and the closing line, and releases the file.
func (l *Log) Close() error {
	l.once.Do(func() { close(l.closing) })
	<-l.stopped
	return l.w.closed
}
