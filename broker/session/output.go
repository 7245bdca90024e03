package session

import (
	"context"
	"io"
	"sync"
	"time"
)

// outputChunk is how much of a terminal's output is read at a time, in bytes.
const outputChunk = 64 << 10

// output carries what an agent writes to the attached user interface, on the
// goroutine that reads it: no byte is handed from one goroutine to another. While nobody is
// attached it has read one chunk ahead and waits, so a flooding agent is slowed
// down and nobody's memory grows; and because the reading belongs to the session,
// a user interface can detach at any point without losing a byte for the next
// one.
type output struct {
	source    io.Reader
	firstByte func()        // called at the first byte, or the end
	drained   chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond   // something of the following has
	sink    *outputSink // of the output; nil while nobody is attached
	busy    *outputSink // it is being written to
	stopped bool
	ended   bool  // run has returned
	past    int64 // bytes to come of the agent's former life
}

// outputSink is one to whom the output goes.
type outputSink struct {
	w   io.Writer
	err error // of w, after which it takes no more
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
		if err != nil {
			return
		}
	}
}

// deliver has the sink take a chunk, whole; the rest of what one did not take
// goes to the next. It reports false when the output was stopped meanwhile.
func (o *output) deliver(chunk []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for !o.stopped && (o.sink == nil || o.sink.err != nil) {
			o.changed.Wait()
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
		if err != nil || o.sink != t { // it waits, or will leave
			t.err = err
			o.changed.Broadcast()
		}
		if err == nil {
			return true
		}
		chunk = chunk[n:]
	}
}

// change changes what is guarded and tells everybody.
func (o *output) change(f func()) {
	o.mu.Lock()
	f()
	o.mu.Unlock()
	o.changed.Broadcast()
}

// drainLimit is how long the last words of an agent may wait for a reader.
const drainLimit = 2 * time.Second

// drain waits until everything that was written has been taken: an agent that
// has ended may have said why.
func (o *output) drain(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	select {
	case <-o.drained:
	case <-limited.Done():
	}
}

// end stops handing out; run returns once its source does.
func (o *output) end() { o.change(func() { o.stopped = true }) }

// copyTo has w written to until the agent has ended, which is no error, w fails,
// or left turns true, which change tells. Then w is not written to any more.
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

// history is how many of the next bytes are of the agent's former life.
func (o *output) history() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.past
}
