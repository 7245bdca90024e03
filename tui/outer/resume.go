package outer

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Continues takes the terminal back whenever this process continues after it was
// stopped, because a shell has used the terminal meanwhile and set its own modes. Then
// it sends a message, because everything must be painted again. The channel is lossy:
// it holds one message for a slow receiver. It is closed when ctx ends.
func (t *Terminal) Continues(ctx context.Context) <-chan struct{} {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCONT)
	back := make(chan struct{}, 1)
	go func() {
		defer close(back)
		defer signal.Stop(signals)
		defer t.Guard()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if t.resume() != nil {
				continue // Listen notices if the terminal is closed
			}
			select {
			case back <- struct{}{}:
			default: // a message is waiting already
			}
		}
	}()
	return back
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
