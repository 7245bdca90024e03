package nonblock

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestSyncer(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSyncer(f)
	for range 100 {
		if _, err := f.WriteString("line\n"); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "linux" && s.kernel == nil {
		t.Error("the kernel's own way was not taken")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a sync of the closed file: %v", err)
	}
	s.Close()
}

// What cannot be synced is an error, as it is without the kernel's own way.
func TestSyncerOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	s := NewSyncer(w)
	defer s.Close()
	if err := s.Sync(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v", err)
	}
}

func BenchmarkSync(b *testing.B) {
	for _, way := range []struct {
		name string
		sync func(*os.File) func() error
	}{
		{"File", func(f *os.File) func() error { return f.Sync }},
		{"Syncer", func(f *os.File) func() error { return NewSyncer(f).Sync }},
	} {
		b.Run(way.name, func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "f"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			line, sync := make([]byte, 400), way.sync(f)
			for b.Loop() {
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				if err := sync(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
