package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Reads and writes are raw system calls that the Go runtime does not track. The
// descriptor never blocks, so the runtime need not watch the thread, and watching costs
// more time than a key does.

// Read reads what the program wrote. It returns io.EOF after the program and all other
// processes on its terminal have ended.
func (p *Program) Read(b []byte) (int, error) {
	var n int
	var failed error
	err := p.conn.Read(func(fd uintptr) bool {
		n, failed = readNow(int(fd), b)
		return !errors.Is(failed, syscall.EAGAIN)
	})
	// Either this side is closed, or the other side is, for which Linux returns EIO.
	if err != nil || errors.Is(failed, syscall.EIO) || failed == nil && n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return max(n, 0), failed
}

// Write sends input to the program. It blocks while the program does not read.
func (p *Program) Write(b []byte) (int, error) {
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

// TryWrite sends as much input as the program's terminal takes without blocking, and
// returns the number of bytes.
func (p *Program) TryWrite(b []byte) (int, error) { return p.write(b, false) }

// write writes once. With wait it blocks until there is room.
func (p *Program) write(b []byte, wait bool) (int, error) {
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
