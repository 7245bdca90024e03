package dirtree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Only regular files are opened, no link below the base is followed, and nothing above it is
// reached.
func TestOpen(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	at := func(name string) string { return filepath.Join(base, name) }
	if err := errors.Join(os.MkdirAll(at("a/b"), 0o700), os.WriteFile(at("a/b/c"), []byte("text"), 0o600),
		os.WriteFile(at("../outside"), nil, 0o600), os.Symlink("a", at("link")), os.Symlink("c", at("a/b/d")),
		os.Symlink("../outside", at("out")), unix.Mkfifo(at("pipe"), 0o600), os.Chmod(at("a"), 0o300)); err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]string{
		"a/b/c": "", "/a/b/c": "", "link": "a link", "link/b/c": "a link", "a/b/d": "a link", "out": "a link",
		"pipe": "a named pipe", "a/b": "a directory", "a/b/c/x": "a file, not a directory",
	} {
		f, err := Open(base, name)
		if is == "" {
			text, readErr := io.ReadAll(f)
			if err = errors.Join(err, readErr, f.Close()); err != nil || string(text) != "text" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
			continue
		}
		var other *NotRegularError
		if !errors.As(err, &other) || other.Is != is {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(base, "none/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(at("link"), "b/c"); err == nil {
		t.Error("a link was taken for the base")
	}
	for _, name := range []string{"../outside", "a/../../outside", "", ".", "a//b/c"} {
		if f, err := Open(base, name); err == nil {
			t.Errorf("%q: opened %s", name, f.Name())
		}
	}
}
