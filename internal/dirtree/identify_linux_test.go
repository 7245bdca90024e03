package dirtree

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// No link is followed, wherever it stands.
func TestIdentify(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("a/b"), 0o700), os.WriteFile(at("a/b/c"), nil, 0o600),
		os.Symlink("a", at("link")), os.Symlink("c", at("a/b/d"))); err != nil {
		t.Fatal(err)
	}
	for name, plain := range map[string]bool{
		".": true, "a/b": true, "a/b/c": true, "a/b/c/": true,
		"link": false, "link/b": false, "a/b/d": false, "a/b/c/x": false, "none": false,
	} {
		device, inode, err := Identify(at(name))
		if (err == nil) != plain {
			t.Errorf("%s: %v", name, err)
		}
		if !plain {
			continue
		}
		var is syscall.Stat_t
		if err := syscall.Stat(at(name), &is); err != nil || is.Dev != device || is.Ino != inode {
			t.Errorf("%s is %d %d: %+v, %v", name, device, inode, is, err)
		}
	}
}
