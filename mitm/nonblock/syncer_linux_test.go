package nonblock

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A sync of which nobody can tell how it ended has not worked, and what may still come
// of it is not taken for the end of the next.
func TestSyncWithoutAnEnd(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s := NewSyncer(f)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := s.kernel.event.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err == nil {
		t.Error("it has ended well")
	}
	if s.kernel != nil {
		t.Error("the kernel is asked again")
	}
	if err := s.Sync(); err != nil {
		t.Errorf("the next one: %v", err)
	}
	s.Close()
}
