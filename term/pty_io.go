package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// What is read and written here goes to the kernel without telling the runtime:
// the descriptor never blocks, so no thread has to be watched over meanwhile,
// and watching costs more than a key does.

// Read reads what the program wrote. After the program and everyone else on
// its terminal are gone, it returns io.EOF.
func (p *PTY) Read(b []byte) (int, error) {
	var n int
	var failed error
	err := p.conn.Read(func(fd uintptr) bool {
		n, failed = readNow(int(fd), b)
		return !errors.Is(failed, syscall.EAGAIN)
	})
	// Either this side is closed, or the other, of which Linux says EIO.
	if err != nil || errors.Is(failed, syscall.EIO) || failed == nil && n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return max(n, 0), failed
}

// Write types to the program. It blocks while the program does not read.
func (p *PTY) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := p.write(b[done:], true)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// TryWrite types what the program's terminal takes without waiting, and returns
// how many bytes that was.
func (p *PTY) TryWrite(b []byte) (int, error) { return p.write(b, false) }

// write writes once; it waits for room when it may.
func (p *PTY) write(b []byte, wait bool) (int, error) {
	var n int
	var failed error
	err := p.conn.Write(func(fd uintptr) bool {
		n, failed = writeNow(int(fd), b)
		return !wait || !errors.Is(failed, syscall.EAGAIN)
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("write to terminal: %w", os.ErrClosed)
	case failed != nil && !errors.Is(failed, syscall.EAGAIN):
		return 0, fmt.Errorf("write to terminal: %w", failed)
	}
	return max(n, 0), nil
}
