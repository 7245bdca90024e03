package outer

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// The size below which nothing useful can be shown.
const (
	MinCols = 20
	MinRows = 5
)

// Size is the size of a terminal in cells.
type Size struct{ Cols, Rows int }

// TooSmall reports whether nothing useful can be shown. It is no error: the
// person can make the window larger.
func (s Size) TooSmall() bool { return s.Cols < MinCols || s.Rows < MinRows }

// Size asks the terminal for its size. One that does not know it, as on a
// serial line, is taken for 80×24.
func (t *Terminal) Size() Size {
	ws, err := unix.IoctlGetWinsize(t.fdOut, unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return Size{80, 24}
	}
	return Size{int(ws.Col), int(ws.Row)}
}

// Resizes delivers the terminal's size whenever it may have changed, and first of
// all as it is now: it may have changed before anybody listened. The channel is
// lossy: only the last size waits for a slow receiver. It closes when ctx ends.
func (t *Terminal) Resizes(ctx context.Context) <-chan Size {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGWINCH)
	sizes := make(chan Size, 1)
	sizes <- t.Size()
	go func() {
		defer close(sizes)
		defer signal.Stop(signals)
		defer t.Guard()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case <-sizes: // nobody has taken the one before
			default:
			}
			sizes <- t.Size()
		}
	}()
	return sizes
}
