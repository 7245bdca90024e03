package dirtree

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// However often somebody exchanges a directory on the way for a link, what is opened is no
// directory behind it.
func TestOpenRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("real/project"), 0o700), os.MkdirAll(at("other/project/behind"), 0o700), os.Symlink("other", at("link"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"real/project": nil, "link/project": ErrLink, "link": ErrLink, "none": os.ErrNotExist} {
		root, err := OpenRoot(at(name))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = root.Close()
		}
	}
	enough := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-enough:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, at("real"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE)
			}
		}
	})
	defer other.Wait()
	defer close(enough)
	opened := 0
	for range 3000 {
		root, err := OpenRoot(at("real/project"))
		if err != nil {
			continue
		}
		opened++
		_, err = root.Stat("behind")
		_ = root.Close()
		if err == nil {
			t.Fatal("it was opened behind the link")
		}
	}
	if opened == 0 {
		t.Error("it was never opened")
	}
}
