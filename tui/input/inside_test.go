package input

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Names are completed in a directory that an agent can write to without following its links out of
// there, and without waiting for its pipes.
func TestInside(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for _, dir := range []string{outside + "/secret", base + "/src/deep"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, base+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(base+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"note.txt", "-f", "it's", `a\b`, "two words"} {
		if err := os.WriteFile(filepath.Join(base, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"~/.ssh", "file:/etc", "FILE:/etc"} { // a line would misread them
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for word, want := range map[string][]string{
		"":                     {"note.txt", "src/", "two words"},
		"src/":                 {"src/deep/"},
		"/workspace/src/":      {"/workspace/src/deep/"},
		"/workspace/":          {"/workspace/-f", "/workspace/FILE:/", "/workspace/file:/", "/workspace/note.txt", "/workspace/src/", "/workspace/two words", "/workspace/~/"},
		"/etc/":                nil,
		"link/":                nil,
		"pipe/":                nil,
		"../":                  nil,
		"/workspace/../../etc": nil,
	} {
		if got := Inside(base, "/workspace", word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for _, word := range []string{"", "f", "F", "~x"} {
		for _, name := range slices.Concat(Files(base, word), Directories(base, word)) {
			if paths, err := Paths(base, Escape(name)); err != nil || len(paths) != 1 || filepath.Dir(paths[0]) != base {
				t.Errorf("%q is read as %q, %v", name, paths, err)
			}
		}
	}
	if got := Files(base, "pipe/"); got != nil {
		t.Errorf("below a pipe: %q", got)
	}
}
