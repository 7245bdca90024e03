package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Nothing is begun in the directory for temporary files: a write works without one.
func TestWriteNeedsNoTemporaryDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "temporary"))
	if err := os.Mkdir(os.Getenv("TMPDIR"), 0o500); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(os.Getenv("TMPDIR"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "another"} {
		t.Run(text, func(t *testing.T) {
			if err := wholefile.Write(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("read %q, %v", got, err)
			}
		})
	}
	after, err := os.Stat(os.Getenv("TMPDIR"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("something was in the directory for temporary files: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}
