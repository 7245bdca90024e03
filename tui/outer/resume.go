package outer

import (
	"context"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Continues takes the terminal back whenever this process continues after it was
// stopped, because a shell has used the terminal meanwhile and set its own modes. Then
// it sends a message, because everything must be painted again. The channel is lossy:
// it holds one message for a slow receiver. It is closed when ctx ends.
func (t *Terminal) Continues(ctx context.Context) <-chan struct{} {
	signals := make(chan os.Signal, 1)
	var stopping, continued <-chan struct{}
	if t.passed != nil {
		stopping, continued = t.passed.Stopping, t.passed.Continued
	} else {
		signal.Notify(signals, unix.SIGCONT)
	}
	back := make(chan struct{}, 1)
	go func() {
		defer close(back)
		defer signal.Stop(signals)
		defer t.guard()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			case <-continued:
			case <-stopping:
				if t.stop(ctx) == nil {
					note(back)
				}
				continue
			}
			if !t.awaitForeground(ctx) || t.resume() != nil {
				continue // Listen notices if the terminal is closed
			}
			note(back)
		}
	}()
	return back
}

// stop gives a passed terminal back until its client has been stopped and is in the foreground
// again. If ctx ends before that, the client's shell keeps the terminal.
func (t *Terminal) stop(ctx context.Context) error {
	return t.Release(ctx, func() error {
		t.away.Store(true)
		t.passed.Released()
		select {
		case <-t.passed.Continued:
		case <-ctx.Done():
		}
		if !t.awaitForeground(ctx) {
			return ctx.Err()
		}
		t.away.Store(false)
		return nil
	})
}

// awaitForeground waits until the client of a passed terminal is in the foreground. It returns
// false if ctx ends before that.
func (t *Terminal) awaitForeground(ctx context.Context) bool {
	return t.passed == nil || awaitForeground(ctx, *t.passed)
}

func awaitForeground(ctx context.Context, p Passed) bool {
	ticks := time.NewTicker(presentWait)
	defer ticks.Stop()
	for ctx.Err() == nil && !p.Present() {
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// resume sets the modes again. In the background, this stops the process once more until
// the shell brings it to the foreground. While the terminal is lent to another program,
// resume does nothing, because Run takes the terminal back.
func (t *Terminal) resume() error {
	if !t.loan.TryLock() {
		return ErrLent
	}
	defer t.loan.Unlock()
	return t.takeBack(leave) // leave first, so that no state is pushed twice
}
