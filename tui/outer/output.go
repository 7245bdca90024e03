package outer

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Write writes one frame in one piece. After Restore it writes nothing and returns
// ErrRestored; while the terminal is lent, ErrLent.
func (t *Terminal) Write(frame []byte) (int, error) {
	t.write.Lock()
	defer t.write.Unlock()
	if t.restored.Load() {
		return 0, ErrRestored
	}
	if t.lent {
		return 0, ErrLent
	}
	size, before := len(frame), len(t.rest)
	if t.flow.sending(size, time.Now()) {
		frame = slices.Concat(t.rest, frame, []byte(probeText))
	} else if before > 0 {
		frame = slices.Concat(t.rest, frame)
	}
	t.rest = nil
	n := t.quick.write(frame)
	var err error
	for n < len(frame) && err == nil {
		// Write in pieces, because Restore frees a write that hangs by making room for all of it.
		var more int
		t.waits.Store(time.Now().UnixNano())
		more, err = t.out.Write(frame[n:min(n+mostWaiting, len(frame))])
		t.waits.Store(0)
		if n += more; t.restored.Load() && n < len(frame) {
			err = ErrRestored
		}
	}
	return max(0, min(n-before, size)), err
}

// Behind returns how long a write has been waiting for the terminal; 0 if none waits.
func (t *Terminal) Behind() time.Duration {
	if since := t.waits.Load(); since != 0 {
		return time.Since(time.Unix(0, since))
	}
	return 0
}

// TryWrite writes as much of a frame as the terminal takes without waiting, and returns the number
// of bytes. If it has written a part of the frame, it keeps the rest, and the next Write writes that
// first. It writes nothing while there is such a rest, or while another goroutine writes.
func (t *Terminal) TryWrite(frame []byte) (int, error) {
	if !t.write.TryLock() {
		return 0, nil
	}
	defer t.write.Unlock()
	switch {
	case t.restored.Load():
		return 0, ErrRestored
	case t.lent:
		return 0, ErrLent
	case len(t.rest) > 0:
		return 0, nil
	}
	n := t.quick.write(frame)
	if n == 0 {
		return 0, nil
	}
	rest := frame[n:]
	if t.flow.sending(len(frame), time.Now()) {
		rest = slices.Concat(rest, []byte(probeText))
		if n == len(frame) {
			rest = rest[t.quick.write(rest):]
		}
	}
	t.rest = slices.Clone(rest)
	return n, nil
}

// writeWithin writes as soon as the terminal takes it, and gives up after d.
func (t *Terminal) writeWithin(b []byte, d time.Duration) error {
	deadline := time.Now().Add(d)
	for writable(t.fdOut, max(0, time.Until(deadline))) {
		n := t.quick.write(b)
		if n == 0 { // it cannot be written to without waiting
			_, err := t.out.Write(b)
			return err
		}
		if b = b[n:]; len(b) == 0 {
			return nil
		}
	}
	return errors.New("the terminal takes no output")
}

// writable reports whether fd takes output, waiting for at most d.
func writable(fd int, d time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		n, err := unix.Poll(fds, int(d/time.Millisecond))
		if err != unix.EINTR {
			return n > 0
		}
	}
}
