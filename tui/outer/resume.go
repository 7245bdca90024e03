package outer

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Continues takes the terminal back whenever this process goes on after it was
// stopped, because a shell has used it meanwhile, with modes of its own. Afterwards
// it says so: nothing is left of what was painted before. The channel is lossy: one
// message waits for a slow receiver. It closes when ctx ends.
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
				continue // reading will tell whether it is gone
			}
			select {
			case back <- struct{}{}:
			default: // the one before says it as well
			}
		}
	}()
	return back
}

// resume sets the modes again; in the background that stops this process once more,
// until the shell brings it to the foreground. A program that has the terminal on
// loan keeps it: who lent it takes it back.
func (t *Terminal) resume() error {
	if !t.loan.TryLock() {
		return ErrLent
	}
	defer t.loan.Unlock()
	return t.takeBack(leave) // so that nothing is pushed twice
}
