package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// terminal is the attachment of one user interface to an agent's terminal. After Close another one may
// attach; the agent keeps running.
type terminal struct {
	program  program
	output   *output
	history  int64 // bytes
	release  func()
	once     sync.Once
	closed   atomic.Bool          // set by Close
	onResize func(cols, rows int) // is called with each new size; nil: nobody wants to know
	// onSuspend is called when a Ctrl-Z was not passed on to the program; nil: the program
	// gets every Ctrl-Z.
	onSuspend func()
}

func (t *terminal) CopyTo(w io.Writer) error { return t.output.copyTo(w, t.closed.Load) }

func (t *terminal) Write(p []byte) (int, error) {
	if t.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	if t.onSuspend == nil {
		return t.program.Write(p)
	}
	rest, found := agent.WithoutSuspend(p)
	if found {
		t.onSuspend()
	}
	if len(rest) > 0 {
		if n, err := t.program.Write(rest); err != nil {
			if found {
				n = 0 // n counts bytes of rest, not of p
			}
			return n, err
		}
	}
	return len(p), nil
}

// writeHolder is a program whose blocked writes HoldWrites(true) makes return.
type writeHolder interface {
	HoldWrites(hold bool)
}

// tryWriter is a program that accepts input without blocking.
type tryWriter interface {
	TryWrite(p []byte) (int, error)
}

// TryWrite writes nothing if p contains a Ctrl-Z that the program must not get. Write handles that.
func (t *terminal) TryWrite(p []byte) (int, error) {
	if t.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	program, ok := t.program.(tryWriter)
	if !ok {
		return 0, nil
	}
	if t.onSuspend != nil {
		if _, found := agent.WithoutSuspend(p); found {
			return 0, nil
		}
	}
	return program.TryWrite(p)
}

// History returns how many of the first bytes are from before the agent was taken back.
func (t *terminal) History() int64 { return t.history }

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	err := t.program.Resize(ctx, cols, rows)
	if err == nil && t.onResize != nil {
		t.onResize(cols, rows)
	}
	return err
}

func (t *terminal) Close() error {
	t.once.Do(func() {
		t.output.change(func() { t.closed.Store(true) })
		if program, ok := t.program.(writeHolder); ok {
			program.HoldWrites(true) // makes a blocked Write return
		}
		t.release()
	})
	return nil
}

// FormerSize returns the size of the terminal before the agent was taken back.
func (t *terminal) FormerSize() (cols, rows int) {
	if p, ok := t.program.(interface{ FormerSize() (cols, rows int) }); ok {
		return p.FormerSize()
	}
	return 0, 0
}

// Terminal is an attachment to an agent's terminal. Write sends input, and blocks while the agent does
// not read. Close detaches, and the agent keeps running; a blocked Write then returns how much was
// written.
type Terminal interface {
	io.WriteCloser
	// CopyTo copies the agent's output to w. It returns nil when the agent has ended or Close is
	// called, and an error when w fails. The agent blocks while a write to w does. CopyTo may be
	// called only once.
	CopyTo(w io.Writer) error
	// TryWrite sends as much input as the agent accepts without blocking, and returns how many bytes
	// that was. It sends nothing if it cannot know how much the agent accepts.
	TryWrite(p []byte) (int, error)
	// History returns how many of the first bytes of CopyTo are from before the agent was taken
	// back. Terminal queries in them were answered before and must not be answered again.
	History() int64
	// FormerSize returns the size of the agent's screen before the agent was taken back from a killed
	// process; 0: it was not taken back, or the size is not known.
	FormerSize() (cols, rows int)
	// Resize sets the size of the agent's screen.
	Resize(ctx context.Context, cols, rows int) error
}

// outputChunk is how many bytes of a terminal's output are read at a time at most.
const outputChunk = 64 << 10

// output copies an agent's output to the attached user interface. One goroutine both reads and writes,
// so bytes need no queue. While no user interface is attached, output reads one chunk ahead and waits,
// so that an agent with much output blocks and memory stays bounded. A user interface can detach at any
// time without losing output for the next one.
type output struct {
	source    io.Reader
	firstByte func()        // called at the first byte or at the end, once
	drained   chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond   // signals a change of the fields below
	sink    *outputSink // receives the output; nil while nobody is attached
	busy    *outputSink // the sink that is being written to
	stopped bool        // end was called
	ended   bool        // run has returned
	past    int64       // how many of the next bytes are from before the agent was taken back
	held    bool        // hold was called: nothing may be read or delivered
	idle    bool        // run waits because of held
	ahead   []byte      // what run had read but not delivered when it began to wait
}

// outputSink is a receiver of the output.
type outputSink struct {
	w   io.Writer
	err error // the error of w; nothing is written to it afterwards
}

func newOutput(source io.Reader, began func()) *output {
	o := &output{source: source, firstByte: sync.OnceFunc(began), drained: make(chan struct{})}
	o.changed.L = &o.mu
	if h, ok := source.(interface{ History() int64 }); ok {
		o.past = h.History()
	}
	return o
}

// run reads until the source or the output ends.
func (o *output) run() {
	defer close(o.drained)
	defer o.change(func() { o.ended = true })
	defer o.firstByte()
	buf := make([]byte, outputChunk)
	for {
		n, err := o.source.Read(buf)
		if n > 0 {
			o.firstByte()
			if !o.deliver(buf[:n]) {
				return
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // reads are held
			o.awaitRelease()
			continue
		}
		if err != nil {
			return
		}
	}
}

// awaitRelease waits while the output is held.
func (o *output) awaitRelease() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waitHeld(nil)
}

// waitHeld waits while the output is held. The caller holds the lock. ahead is what it has read but
// not delivered.
func (o *output) waitHeld(ahead []byte) {
	for o.held && !o.stopped {
		o.idle, o.ahead = true, ahead
		o.changed.Broadcast()
		o.changed.Wait()
	}
	o.idle, o.ahead = false, nil
}

// hold stops reading and delivering until release. It returns what was read but not delivered, and how
// many of the next bytes, including those, are from before the agent was taken back. Before the call,
// reads of the source must have been made to fail with os.ErrDeadlineExceeded, and user interfaces must
// have detached.
func (o *output) hold() (ahead []byte, past int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = true
	o.changed.Broadcast()
	for !o.idle && !o.ended && !o.stopped {
		o.changed.Wait()
	}
	return bytes.Clone(o.ahead), o.past
}

func (o *output) release() { o.change(func() { o.held = false }) }

// deliver writes a whole chunk to the sink. When a sink fails, the next one gets the rest
// of the chunk. It returns false if the output was stopped before the whole chunk was written.
func (o *output) deliver(chunk []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for !o.stopped && (o.held || o.sink == nil || o.sink.err != nil) {
			if o.waitHeld(chunk); o.sink == nil || o.sink.err != nil {
				o.changed.Wait()
			}
		}
		if o.stopped {
			return false
		}
		t := o.sink
		o.busy = t
		o.mu.Unlock()
		n, err := t.w.Write(chunk)
		o.mu.Lock()
		o.busy = nil
		o.past = max(0, o.past-int64(n))
		if err != nil || o.sink != t { // copyTo waits for one of these
			t.err = err
			o.changed.Broadcast()
		}
		if err == nil {
			return true
		}
		chunk = chunk[n:]
	}
}

// change changes fields while holding the lock, and wakes the waiters.
func (o *output) change(f func()) {
	o.mu.Lock()
	f()
	o.mu.Unlock()
	o.changed.Broadcast()
}

// drainLimit is how long the last output of an agent may wait for a reader.
const drainLimit = 2 * time.Second

// drain waits until all output has been delivered, for drainLimit at most, because the agent's last
// output may say why it ended.
func (o *output) drain(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	select {
	case <-o.drained:
	case <-limited.Done():
	}
}

// end stops the delivery. run returns once its read from the source does.
func (o *output) end() { o.change(func() { o.stopped = true }) }

// copyTo writes the output to w until the agent has ended, which is not an error, w fails, or left
// returns true. left's result must be changed inside change. After copyTo has returned, nothing is
// written to w.
func (o *output) copyTo(w io.Writer, left func() bool) error {
	t := &outputSink{w: w}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sink = t
	o.changed.Broadcast()
	for t.err == nil && !o.ended && !left() {
		o.changed.Wait()
	}
	if o.sink == t {
		o.sink = nil
	}
	for o.busy == t {
		o.changed.Wait()
	}
	return t.err
}

// history returns how many of the next bytes are from before the agent was taken back.
func (o *output) history() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.past
}
