package outer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Prompt reads and writes lines on a terminal that a client has passed to this process. It does not
// change the modes: the person edits a line as in a shell, and the client gets the signals of keys.
type Prompt struct {
	in, out int // descriptors of its own
	passed  Passed
	wake    *os.File // closed to end the goroutines
	typed   chan []byte
	ended   chan struct{} // closed when nothing is read any more
	ctx     context.Context
	rest    []byte // of the last input, which Read has not returned yet; only Read uses it
	work    sync.WaitGroup
}

// ownDescriptor opens a terminal again, so that its nonblocking mode is not shared with the client.
// Where the system cannot do that, ownDescriptor duplicates the descriptor, which can block; this is
// why reads and writes wait until the terminal is ready, and are small.
func ownDescriptor(f *os.File, mode int) (int, error) {
	if again, err := openAgain(int(f.Fd()), mode); err == nil {
		return again, nil
	}
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// mostWritten is the size in bytes of the largest write.
const mostWritten = 512

// mostTyped is the longest line that a terminal returns in one read, in bytes.
const mostTyped = 4 << 10

// OpenPrompt uses a passed terminal until ctx ends or the caller calls Close.
func OpenPrompt(ctx context.Context, in, out *os.File, passed Passed) (p *Prompt, err error) {
	p = &Prompt{in: -1, out: -1, passed: passed, typed: make(chan []byte), ended: make(chan struct{}), ctx: ctx}
	defer func() {
		if err != nil {
			p.closeFiles()
			err = &fault.Error{Op: op, Err: err, Next: "use another terminal"}
		}
	}()
	if p.in, err = ownDescriptor(in, unix.O_RDONLY); err != nil {
		return nil, fmt.Errorf("open it for reading: %w", err)
	}
	if p.out, err = ownDescriptor(out, unix.O_WRONLY); err != nil {
		return nil, fmt.Errorf("open it for writing: %w", err)
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.wake = end
	r := &reader{in: p.in, wake: int(wake.Fd()), present: passed.Present}
	p.work.Go(func() {
		defer wake.Close()
		defer close(p.ended)
		p.read(r)
	})
	p.work.Go(p.letStop)
	context.AfterFunc(ctx, func() { _ = p.wake.Close() })
	return p, nil
}

// read sends lines to typed until the terminal or the context ends.
func (p *Prompt) read(r *reader) {
	buf := make([]byte, mostTyped)
	for p.ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(r.in), Events: unix.POLLIN}, {Fd: int32(r.wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
			return
		}
		if fds[0].Revents == 0 || !r.awaitPresent() {
			continue
		}
		n, err := unix.Read(r.in, buf)
		r.last = time.Now()
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		select {
		case p.typed <- append([]byte(nil), buf[:n]...):
		case <-p.ctx.Done():
			return
		}
	}
}

// letStop lets the client stop whenever it wants to, because the terminal's modes are unchanged.
func (p *Prompt) letStop() {
	for {
		select {
		case <-p.passed.Stopping:
			p.passed.Released()
		case <-p.passed.Continued:
		case <-p.passed.Resized:
		case <-p.ended:
			return
		}
	}
}

// Read returns what the person has typed, and io.EOF at the end.
func (p *Prompt) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		select {
		case p.rest = <-p.typed:
		case <-p.ended:
			return 0, io.EOF
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Write writes to the terminal. It fails when the terminal takes nothing for openLimit.
func (p *Prompt) Write(b []byte) (n int, err error) {
	for n < len(b) {
		if p.ctx.Err() != nil {
			return n, p.ctx.Err()
		}
		if !writable(p.out, openLimit) {
			return n, errors.New("the terminal takes no output")
		}
		more, err := unix.Write(p.out, b[n:min(len(b), n+mostWritten)])
		if err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return n, err
		}
		n += max(0, more)
	}
	return n, nil
}

// DropInput discards what was typed and not read yet, including an unfinished line.
func (p *Prompt) DropInput() error { return dropInput(p.in) }

// Close stops using the terminal. The context or the input must have ended.
func (p *Prompt) Close() {
	_ = p.wake.Close()
	p.work.Wait()
	p.closeFiles()
}

func (p *Prompt) closeFiles() {
	for _, fd := range []int{p.in, p.out} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
