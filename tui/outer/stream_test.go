package outer

import (
	"errors"
	"io"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// End ends waiting reads and writes of a pipe. A pipe without a reader is not an error. No file is set
// to nonblocking mode.
func TestStreamsOfPipes(t *testing.T) {
	inRead, inWrite := pipe(t)
	outRead, outWrite := pipe(t)
	errRead, errWrite := pipe(t)
	s, err := PassStreams(inRead, outWrite, errWrite, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := inWrite.WriteString("a task"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := s.In.Read(b); err != nil || string(b[:n]) != "a task" {
		t.Errorf("%q, %v", b[:n], err)
	}
	_ = errRead.Close()
	if n, err := s.Err.Write([]byte("nobody reads this")); err != nil || n != 17 {
		t.Errorf("%d, %v", n, err)
	}
	var stuck sync.WaitGroup
	stuck.Go(func() {
		if n, err := s.Out.Write(make([]byte, 1<<20)); err != nil || n != 1<<20 {
			t.Errorf("%d, %v", n, err)
		}
	})
	stuck.Go(func() {
		if _, err := s.In.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	if _, err := io.ReadFull(outRead, make([]byte, 70_000)); err != nil { // more than fits: it waits for us
		t.Fatal(err)
	}
	for _, f := range []*os.File{inRead, outWrite} {
		if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
			t.Errorf("flags %x, %v", flags, err)
		}
	}
	s.End()
	stuck.Wait()
}

// pipe is a pipe in blocking mode, as programs get it.
func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	read, write = os.NewFile(uintptr(fds[0]), "read"), os.NewFile(uintptr(fds[1]), "write")
	t.Cleanup(func() { _ = read.Close(); _ = write.Close() })
	return read, write
}
