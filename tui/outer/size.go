package outer

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Size is the size of a terminal in cells.
type Size struct{ Cols, Rows int }

// Size asks the terminal for its size. If the terminal does not know it, as on a serial
// line, Size returns 80×24.
func (t *Terminal) Size() Size { return sizeOf(t.fdOut) }

// SizeOf returns the size of a terminal; zero if it is closed.
func SizeOf(f *os.File) (s Size) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { s = sizeOf(int(fd)) }) // an error means that it is closed
	}
	return s
}

func sizeOf(fd int) Size {
	ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return Size{80, 24}
	}
	return Size{int(ws.Col), int(ws.Row)}
}

// note puts a value into a channel that holds one, unless it is full.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Resizes delivers the terminal's current size, and then its size whenever that may have
// changed. The channel is lossy: it holds only the last size for a slow receiver. It is
// closed when ctx ends.
func (t *Terminal) Resizes(ctx context.Context) <-chan Size {
	signals := make(chan os.Signal, 1)
	var passed <-chan struct{}
	if t.passed != nil {
		passed = t.passed.Resized
	} else {
		signal.Notify(signals, unix.SIGWINCH)
	}
	sizes := make(chan Size, 1)
	sizes <- t.Size()
	go func() {
		defer close(sizes)
		defer signal.Stop(signals)
		defer t.guard()
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			case <-passed:
			case <-t.resized:
			}
			select {
			case <-sizes: // the previous size was not received
			default:
			}
			sizes <- t.Size()
		}
	}()
	return sizes
}
