package docker

import (
	"bufio"
	"errors"
	"os"
	"syscall"
	"testing"
)

// The connection to a terminal is held, and continued as another process would: no byte is lost,
// and what was not taken is known.
func TestAnAttachmentIsContinued(t *testing.T) {
	c := connect(t)
	ct, in := raw(t, c)
	if _, err := ct.Write([]byte("one")); err != nil {
		t.Fatal(err)
	}
	readUntil(t, in, "one")
	held := make(chan error, 1)
	go func() {
		_, err := ct.Read(make([]byte, 1))
		held <- err
	}()
	ct.HoldReads(true)
	if err := <-held; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read that is held: %v", err)
	}
	if _, err := ct.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	conn, unread, err := ct.Connection()
	if err != nil || len(unread) != 0 {
		t.Fatalf("%q, %v", unread, err)
	}
	fd := -1
	if err := conn.Control(func(n uintptr) { fd, err = syscall.Dup(int(n)) }); err != nil || fd < 0 {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Adopt(ct.ID(), os.NewFile(uintptr(fd), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	readUntil(t, bufio.NewReader(again), "two")
}
