package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// realDir makes a directory and returns its path without links.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func newBox(t *testing.T) *Box {
	t.Helper()
	dir := realDir(t)
	b := &Box{Dir: filepath.Join(dir, "box"), Temporary: dir}
	if err := os.Mkdir(b.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

func anyFile(string) error { return nil }

// left lists the files in and beside the box.
func (b *Box) left(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{b.Dir, b.Temporary} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				all = append(all, e.Name())
			}
		}
	}
	return all
}

// write makes a file. It is as large as size says, and takes no room.
func writeFile(t *testing.T, path, text string, size int64) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

// Files are copied under names that need no quotes, and never over another copy.
func TestAdd(t *testing.T) {
	b, dir := newBox(t), realDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("a b.png"), "picture", 0)
	writeFile(t, at("-rf;$(x).txt"), "text", 0)
	writeFile(t, at(strings.Repeat("ä", 120)+".jpeg"), "long", 0)
	names, err := b.Add(t.Context(), []string{at("a b.png"), at("a b.png"), at("-rf;$(x).txt"), at(strings.Repeat("ä", 120) + ".jpeg")}, anyFile)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a-b.png", "a-b-2.png", "rf---x-.txt", strings.Repeat("ä", 47) + ".jpeg"}; !slices.Equal(names, want) {
		t.Errorf("named %q", names)
	}
	data, err := os.ReadFile(filepath.Join(b.Dir, "a-b-2.png"))
	if err != nil || string(data) != "picture" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(filepath.Join(b.Dir, "a-b.png")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A file that is not regular, is too large, is missing or is behind a link is refused with one clear
// line, and none of the command's files is copied.
func TestAddRefuses(t *testing.T) {
	b, dir := newBox(t), realDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("good"), "x", 0)
	writeFile(t, at("large"), "x", maxFile+1)
	if err := errors.Join(unix.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("dir"), 0o700),
		os.Symlink("good", at("link")), os.Symlink(".", at("over"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/zero": "/dev/zero is a device", at("dir"): "dir is a directory", at("pipe"): "pipe is a named pipe",
		at("link"): "link is a link; an agent can make links, so none is followed", at("over/good"): "over is a link",
		at("gone"): "gone does not exist", at("large"): "large: is larger than 64 MiB", at("good/x"): "good is a file, not a directory",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			names, err := b.Add(t.Context(), []string{at("good"), path}, anyFile)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(names) != 0 {
				t.Errorf("%v, %v", names, err)
			}
			if left := b.left(t); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
	if _, err := b.Add(t.Context(), []string{at("link")}, anyFile); fault.Hint(err) != "if you mean that file, name it: "+at("good") {
		t.Errorf("hint %q", fault.Hint(err))
	}
	secret := errors.New("it is protected")
	if _, err := b.Add(t.Context(), []string{at("good")}, func(string) error { return secret }); !errors.Is(err, secret) || len(b.left(t)) != 0 {
		t.Errorf("%v; left: %q", err, b.left(t))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Add(ctx, []string{at("good")}, anyFile); !errors.Is(err, context.Canceled) || len(b.left(t)) != 0 {
		t.Errorf("%v; left: %q", err, b.left(t))
	}
}

// The size of a box is limited.
func TestBoxIsBounded(t *testing.T) {
	b, dir := newBox(t), realDir(t)
	writeFile(t, filepath.Join(b.Dir, "most"), "", maxBox-3)
	writeFile(t, filepath.Join(dir, "four"), "four", 0)
	writeFile(t, filepath.Join(dir, "two"), "22", 0)
	if _, err := b.Add(t.Context(), []string{filepath.Join(dir, "four")}, anyFile); err == nil || !strings.Contains(err.Error(), "would be more than 256 MiB") {
		t.Error(err)
	}
	if _, err := b.Add(t.Context(), []string{filepath.Join(dir, "two")}, anyFile); err != nil {
		t.Error(err)
	}
}

// program puts a shell script on PATH, which has nothing else.
func program(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

// The picture is that of the first program that prints one.
func TestPicture(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := Picture(t.Context()); err == nil || !strings.Contains(err.Error(), "no program is installed that reads the clipboard: wl-paste, xclip, pngpaste") {
		t.Error(err)
	}
	program(t, dir, "wl-paste", "echo 'No selection' >&2; exit 1")
	if _, err := Picture(t.Context()); err == nil || !strings.Contains(err.Error(), "the clipboard has no picture (wl-paste: exit status 1)") {
		t.Error(err)
	}
	program(t, dir, "xclip", "echo text")
	if _, err := Picture(t.Context()); err == nil || !strings.Contains(err.Error(), "xclip: it printed no picture") {
		t.Error(err)
	}
	program(t, dir, "xclip", `[ "$4" = image/png ] && printf '\211PNG\r\n\032\nrest'`)
	if data, err := Picture(t.Context()); err != nil || string(data) != pngMagic+"rest" {
		t.Errorf("%q, %v", data, err)
	}
}

// A copy is private, replaces nothing unless told to, and has the path that was judged.
func TestSave(t *testing.T) {
	dir := realDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("from"), "text", 0)
	writeFile(t, at("there"), "before", 0)
	if err := errors.Join(os.Chmod(at("from"), 0o777), os.Mkdir(at("in"), 0o700), os.Symlink("in", at("link")), os.Symlink("there", at("file-link"))); err != nil {
		t.Fatal(err)
	}
	denied := errors.New("denied")
	for _, c := range []struct {
		to      string
		replace bool
		path    string // where it lands
		err     string
	}{
		{"new", false, "new", ""},
		{"in", false, "in/from", ""},
		{"link/new", false, "in/new", ""},
		{"there", false, "", "there exists"},
		{"there", true, "there", ""},
		{"file-link", true, "", "is not a regular file"},
		{"none/x", false, "", "none does not exist"},
		{"link/denied", true, "", "denied"},
	} {
		t.Run(c.to, func(t *testing.T) {
			from, err := os.Open(at("from"))
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			got, err := Save(t.Context(), from, at(c.to), c.replace, func(path string) error {
				if path == at("in/denied") {
					return denied
				}
				return nil
			})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			info, statErr := os.Lstat(at(c.path))
			if err != nil || got != at(c.path) || statErr != nil || info.Mode() != 0o600 || info.Size() != 4 {
				t.Errorf("%q, %v, %v", got, err, info)
			}
		})
	}
	if hidden, err := filepath.Glob(at(".saving*")); err != nil || len(hidden) != 0 {
		t.Errorf("left: %q", hidden)
	}
}
