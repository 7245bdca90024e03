package bridge

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestHide(t *testing.T) {
	dumpable := func() int {
		t.Helper()
		n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := dumpable()
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(before), 0, 0, 0) })
	if before != 1 {
		t.Fatalf("at first this process is hidden as by %d", before)
	}
	if err := Hide(); err != nil || dumpable() != 0 {
		t.Errorf("it is hidden as by %d, %v", dumpable(), err)
	}
}
