package outer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

const readSize = 32 << 10

// Listen reads the terminal and delivers all events in order: one batch for each read,
// on the calling goroutine. It does not read while deliver runs, so a large paste waits.
// Listen returns when ctx ends or the terminal is closed; neither is an error. Only one
// Listen may run at a time. It takes a lone ESC for the Escape key after a short time
// without input.
func (t *Terminal) Listen(ctx context.Context, deliver func([]keys.Event)) error {
	defer t.Guard()
	r := reader{in: t.fdIn, flow: t.flow, read: readReady}
	if t.passed != nil {
		r.present, r.read = t.passed.Present, unix.Read
		if again, err := openAgain(t.fdIn, unix.O_RDONLY); err == nil {
			defer unix.Close(again)
			r.in = again
		}
	}
	return r.listen(ctx, &t.reader, deliver)
}

// listen reads the terminal, and stores in held the pauser of this reader.
func (r *reader) listen(ctx context.Context, held *atomic.Pointer[pauser], deliver func([]keys.Event)) error {
	wake, stop, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	defer wake.Close()
	defer stop.Close()
	waiter, err := newWaiter(r.in, int(wake.Fd()))
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	defer func() { _ = waiter.close() }()
	pause := &pauser{ask: stop, paused: make(chan struct{}), resume: make(chan struct{})}
	defer close(pause.paused)
	held.Store(pause)
	defer context.AfterFunc(ctx, func() { stop.Close() })()
	r.wake, r.waiter, r.pause = int(wake.Fd()), waiter, pause
	r.run(ctx, deliver)
	return nil
}

// reader reads a terminal until it is woken.
type reader struct {
	in, wake int
	waiter   *waiter
	flow     *flow
	pause    *pauser
	decoder  keys.Decoder
	read     func(fd int, b []byte) (int, error)

	// present reports whether what is typed is meant for this program; nil: it always is.
	present func() bool
	last    time.Time // of the last read
}

// How long after a check the reader checks again whether the client of a passed terminal is in
// the foreground.
const (
	presentFor  = 250 * time.Millisecond // counted from the last read, while it is
	presentWait = 50 * time.Millisecond  // while it is not
)

// awaitPresent waits while what is typed is meant for another program. It returns false when
// the reader has been woken.
func (r *reader) awaitPresent() bool {
	if r.present == nil || time.Since(r.last) < presentFor {
		return true
	}
	for !r.present() {
		fds := []unix.PollFd{{Fd: int32(r.wake), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, int(presentWait/time.Millisecond)); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return false
		}
	}
	return true
}

// pauser stops a reader from reading while another program has the terminal.
type pauser struct {
	ask    *os.File      // a byte on it asks the reader to pause
	paused chan struct{} // the reader's answer; closed when the reader has ended
	resume chan struct{} // makes the reader continue
}

// pause pauses the reader and returns a function that makes it continue. Both do nothing
// if the reader has ended.
func (p *pauser) pause(ctx context.Context) (resume func(), err error) {
	if _, err := p.ask.Write([]byte{0}); err != nil {
		return func() {}, nil // the pipe is closed: the reader has ended
	}
	select {
	case _, alive := <-p.paused:
		if !alive {
			return func() {}, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return func() {
		select {
		case p.resume <- struct{}{}:
		case <-p.paused: // the reader has ended
		}
	}, nil
}

// waitPaused is the reader's side of pause: it confirms the pause and waits until the
// reader may continue.
func (r *reader) waitPaused(ctx context.Context) {
	var asked [1]byte
	if n, err := unix.Read(r.wake, asked[:]); n < 1 || err != nil {
		return
	}
	for _, c := range []struct {
		out, in chan struct{}
	}{{out: r.pause.paused}, {in: r.pause.resume}} {
		select {
		case c.out <- struct{}{}:
		case <-c.in:
		case <-ctx.Done():
			return
		}
	}
}

func (r *reader) run(ctx context.Context, deliver func([]keys.Event)) {
	buf := make([]byte, readSize)
	for {
		ready, err := r.poll()
		if errors.Is(err, errPause) && ctx.Err() == nil {
			r.waitPaused(ctx)
			continue
		}
		if err != nil || ctx.Err() != nil {
			return
		}
		var batch []keys.Event
		ended := false
		if ready {
			if !r.awaitPresent() {
				continue
			}
			n, err := r.read(r.in, buf)
			r.last = time.Now()
			if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
				continue
			}
			if ended = n <= 0 || err != nil; ended {
				batch = r.decoder.Close()
			} else {
				batch = r.decoder.Feed(buf[:n])
			}
		} else {
			batch = r.decoder.Flush()
		}
		batch = r.flow.filter(batch)
		if len(batch) > 0 {
			deliver(batch)
		}
		if ended {
			return
		}
	}
}

// errPause means that the reader is asked to pause.
var errPause = errors.New("pause")

// poll waits until there is something to read, or until the decoder's waiting time has
// passed (ready is false).
func (r *reader) poll() (ready bool, err error) {
	timeout := time.Duration(-1)
	if wait := r.decoder.Wait(); wait > 0 {
		timeout = wait
	}
	fds := [2]unix.PollFd{
		{Fd: int32(r.in), Events: unix.POLLIN},
		{Fd: int32(r.wake), Events: unix.POLLIN},
	}
	n, err := r.waiter.wait(fds[:], timeout)
	switch {
	case err != nil:
		return false, err
	case fds[1].Revents&unix.POLLIN != 0:
		return false, errPause
	case fds[1].Revents != 0:
		return false, context.Canceled
	}
	return n > 0, nil
}
