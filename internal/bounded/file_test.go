package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"full": "abcd", "over": "abcde", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct{ name, content, failure string }{
		{"full", "abcd", ""},
		{"empty", "", ""},
		{"over", "", "the file is larger than 4 bytes"},
		{"pipe", "", "not a regular file"},
		{".", "", "not a regular file"},
		{"missing", "", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, read := range []func() ([]byte, error){
				func() ([]byte, error) { return ReadFile(os.OpenFile, filepath.Join(dir, c.name), 4) },
				func() ([]byte, error) { return ReadFile(root.OpenFile, c.name, 4) },
			} {
				data, err := read()
				if string(data) != c.content || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
					t.Errorf("%q, %v", data, err)
				}
				if c.name == "missing" && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it is %v", err)
				}
			}
		})
	}
}
