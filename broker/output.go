package broker

import (
	"context"
	"io"
	"sync"
	"time"
)

// outputChunk is how much of a terminal's output is read at a time, in bytes.
const outputChunk = 64 << 10

// output carries what an agent writes to whoever is attached. It reads ahead
// by one chunk and then waits, so a flooding agent is slowed down and nobody's
// memory grows; and because the reading belongs to the session, a user interface
// can leave in the middle without a byte being lost for the next one.
type output struct {
	source  io.Reader
	began   func()        // called at the first byte, or the end
	chunks  chan []byte   // must-deliver, unbuffered
	stop    chan struct{} // closed by end
	once    sync.Once
	drained chan struct{} // closed when run has returned

	mu   sync.Mutex // one reader at a time
	rest []byte     // of the chunk being handed out
}

func newOutput(source io.Reader, began func()) *output {
	return &output{source: source, began: sync.OnceFunc(began), chunks: make(chan []byte), stop: make(chan struct{}), drained: make(chan struct{})}
}

// run reads until the source or the output ends. Two buffers are enough: the
// next chunk is taken only after the one before it was handed out whole.
func (o *output) run() {
	defer close(o.drained)
	defer o.began()
	defer close(o.chunks)
	buffers := [2][]byte{make([]byte, outputChunk), make([]byte, outputChunk)}
	for i := 0; ; i = 1 - i {
		n, err := o.source.Read(buffers[i])
		if n > 0 {
			o.began()
			select {
			case o.chunks <- buffers[i][:n]:
			case <-o.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
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
func (o *output) end() { o.once.Do(func() { close(o.stop) }) }

// read hands out bytes until the agent has ended or gone is closed.
func (o *output) read(p []byte, gone <-chan struct{}) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.rest) == 0 {
		select {
		case chunk, more := <-o.chunks:
			if !more {
				return 0, io.EOF
			}
			o.rest = chunk
		case <-gone:
			return 0, io.EOF
		}
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}
