package dirtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// depth is how many directories nest makes inside each other.
const depth = 5000

// nest makes directories inside each other, and a file in the last of them.
func nest(t *testing.T, dir string) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range depth {
		if err == nil {
			err = unix.Mkdirat(fd, "a longer name than one", 0o700)
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(fd, "a longer name than one", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
		_ = unix.Close(fd)
		fd = next
	}
	if err == nil {
		var f int
		if f, err = unix.Openat(fd, "file", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
			err = errors.Join(unix.Close(f), unix.Close(fd))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fewDescriptors lets this process open no more files than some beside those that are
// open, until the test ends.
func fewDescriptors(t *testing.T) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
}

// Directories inside each other by the thousand, with paths longer than the system
// takes, are walked and removed with few descriptors.
func TestDeep(t *testing.T) {
	fewDescriptors(t)
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	nest(t, dir)
	// Names that directories would get on their way up.
	for _, name := range []string{"0", "1/in", "2"} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := os.WriteFile(filepath.Join(dir, "3"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	deepest, files := 0, 0
	err := Walk(t.Context(), dir, func(e *Entry) error {
		deepest = max(deepest, e.Depth)
		if e.IsRegular() {
			files++
		}
		return nil
	})
	if err != nil || deepest != depth+1 || files != 2 {
		t.Errorf("walk: %v; %d directories deep, %d files", err, deepest, files)
	}
	refused := errors.New("refused")
	err = Walk(t.Context(), dir, func(e *Entry) error {
		if e.Depth > depth {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) || len(err.Error()) > 2*maxShown {
		t.Errorf("a refusal from far down: %.1000v", err)
	}
	if err := errors.Join(os.Mkdir(dir+"/kept", 0o700), os.WriteFile(dir+"/kept/file", nil, 0o600), Prune(t.Context(), dir)); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]bool{"1": false, "kept/file": true, "a longer name than one": true} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("after empty directories were removed: %s: %v", name, err)
			}
		})
	}
	if err := Remove(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// Whoever asks for a removal or a walk to end need not wait for it.
func TestContextIsObeyed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	for range 3 {
		if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := Remove(ctx, dir); !errors.Is(err, cause) {
		t.Errorf("remove: %v", err)
	}
	if err := Walk(ctx, dir, func(*Entry) error { return nil }); !errors.Is(err, cause) {
		t.Errorf("walk: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a/b")); err != nil {
		t.Error(err)
	}
}

// A walk ends at its bounds, here near them already.
func TestWalkIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := func(*Entry) error { return nil }
	for name, w := range map[string]*walk{
		"entries": {ctx: t.Context(), visit: all, seen: maxEntries - 2},
		"names":   {ctx: t.Context(), visit: all, held: maxHeld},
	} {
		t.Run(name, func(t *testing.T) {
			if limit := (*Limit)(nil); !errors.As(w.run(dir), &limit) {
				t.Errorf("%s: walked", name)
			}
		})
	}
	if err := (&walk{ctx: t.Context(), visit: all, seen: maxEntries - 3}).run(dir); err != nil {
		t.Error(err)
	}
}

// Links are removed and never followed, and nothing waits for a pipe.
func TestLinksAreNotFollowed(t *testing.T) {
	base := t.TempDir()
	dir, other := filepath.Join(base, "tree"), filepath.Join(base, "other")
	for _, name := range []string{dir + "/sub", other} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.WriteFile(other+"/kept", nil, 0o600),
		os.Symlink(other, dir+"/sub/link"),
		os.Symlink(other, dir+"/link"),
		os.Symlink(other, base+"/itself"),
		unix.Mkfifo(dir+"/sub/pipe", 0o600),
	); err != nil {
		t.Fatal(err)
	}
	var seen []string
	if err := Walk(t.Context(), dir, func(e *Entry) error { seen = append(seen, e.Name); return nil }); err != nil || len(seen) != 4 {
		t.Errorf("walk: %v, saw %q", err, seen)
	}
	if err := Walk(t.Context(), base+"/itself", func(*Entry) error { return nil }); err == nil {
		t.Error("a link was walked")
	}
	for _, name := range []string{dir, base + "/itself", base + "/never was", base + "/never/was"} {
		if err := Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Lstat(other + "/kept"); err != nil {
		t.Error(err)
	}
}

// What cannot be removed is named.
func TestWhatStaysIsNamed(t *testing.T) {
	if err := Remove(t.Context(), "/proc/self/fd"); err == nil || !strings.Contains(err.Error(), "/proc/self/fd") {
		t.Errorf("got %v", err)
	}
}

// Directories that are closed to their owner, as those of a module cache are, go too.
func TestClosedDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	for _, name := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/b", "a", "d", "."} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func TestShort(t *testing.T) {
	for _, path := range []string{"", "/a/b", strings.Repeat("/ä", 4000), strings.Repeat("日", 100), strings.Repeat("\xff", 5000)} {
		t.Run(fmt.Sprintf("%.40s", path), func(t *testing.T) {
			got := Short(path)
			if len(got) > maxShown+len("…") || len(path) <= maxShown && got != path || utf8.ValidString(path) && !utf8.ValidString(got) {
				t.Errorf("%q", got)
			}
		})
	}
}
