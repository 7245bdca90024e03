package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullFileSystem fills a real, small file system to the last byte.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700")
	if errors.Is(err, unix.EPERM) {
		t.Log("mounting needs root; the injected faults cover the same ground")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "audit.jsonl")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 16<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, Options{})
	written := uint64(0)
	for {
		err = l.Append(context.Background(), record(int(written)))
		if err != nil {
			break
		}
		written++
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for range 3 {
		if l.Append(context.Background(), record(0)) == nil {
			t.Fatal("a record was accepted by a full disk")
		}
	}
	if r, err := Verify(path); err != nil || r.Records != written {
		t.Fatalf("%+v, %v; %d were accepted", r, err, written)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 5)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Records != written+6 || !r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
}
