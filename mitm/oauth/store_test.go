package oauth

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A login is only written in its own directory, and never in the shared directory for
// temporary files.
func TestALoginIsWrittenBesideItself(t *testing.T) {
	path, long := filepath.Join(t.TempDir(), "login.json"), time.Unix(1, 0)
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if err := os.Chtimes(os.TempDir(), long, long); err != nil {
		t.Fatal(err)
	}
	if err := file(path).replace([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" {
		t.Errorf("it holds %q, %v", text, err)
	}
	if info, err := os.Stat(os.TempDir()); err != nil || !info.ModTime().Equal(long) {
		t.Errorf("something was made in the directory for temporary files: %v, %v", info.ModTime(), err)
	}
}
