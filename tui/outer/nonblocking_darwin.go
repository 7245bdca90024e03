package outer

import "golang.org/x/sys/unix"

// openAgain opens the terminal of a descriptor without blocking reads and writes. This system
// has no way to.
func openAgain(int, int) (int, error) { return -1, unix.ENOTSUP }

// nonblockingWriter writes what a terminal takes without blocking. On this system it
// writes nothing.
type nonblockingWriter struct{}

func newNonblockingWriter(int) *nonblockingWriter { return &nonblockingWriter{} }

func (a *nonblockingWriter) write([]byte) int { return 0 }

func (a *nonblockingWriter) close() error { return nil }
