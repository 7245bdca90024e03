package dpkg

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe that an agent has put in place of a file does not block its next start.
func TestPrepareDoesNotWait(t *testing.T) {
	for _, name := range []string{"own", "status", "status.new"} {
		t.Run(name, func(t *testing.T) {
			r := Root{Image: filepath.Join(t.TempDir(), "status"), Dir: t.TempDir()}
			if err := os.WriteFile(r.Image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Dir(r.own()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(filepath.Dir(r.own()), name), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := r.Prepare(); (err != nil) != (name == "own") {
				t.Errorf("%v", err)
			}
		})
	}
}
