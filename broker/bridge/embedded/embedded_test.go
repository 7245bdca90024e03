package embedded

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestInstallWritesWhatIsMissingOrChanged(t *testing.T) {
	data := []byte("#!/bin/sh\n")
	cache := filepath.Join(t.TempDir(), "cache")
	path, err := lay(cache, data)
	if err != nil {
		t.Fatal(err)
	}
	first := mustStat(t, path)
	if again, err := lay(cache, data); err != nil || again != path || !os.SameFile(first, mustStat(t, path)) {
		t.Errorf("a file that was right was replaced: %s, %v", again, err)
	}
	for name, spoil := range map[string]func() error{
		"removed":        func() error { return os.Remove(path) },
		"changed":        func() error { return overwrite(path, []byte("#!/bin/no\n"), 0o555) },
		"not executable": func() error { return os.Chmod(path, 0o400) },
		"a link": func() error {
			other := filepath.Join(t.TempDir(), "other")
			return errors.Join(os.WriteFile(other, data, 0o555), os.Remove(path), os.Symlink(other, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if _, err := lay(cache, data); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != string(data) || mustStat(t, path).Mode() != 0o555 {
				t.Errorf("installed %q with mode %v, %v", got, mustStat(t, path).Mode(), err)
			}
		})
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := lay(cache, data); err == nil || !strings.Contains(fault.Hint(err), path) {
		t.Errorf("a directory in its place: %v, with the hint %q", err, fault.Hint(err))
	}
	if other, err := lay(cache, []byte("another build")); err != nil || other == path {
		t.Errorf("another build is at %s, too (%v)", other, err)
	}
}

// Bridges that no build has asked for in a day are removed; everything else in the cache stays.
func TestInstallRemovesWhatNobodyUses(t *testing.T) {
	cache := t.TempDir()
	old := time.Now().Add(-2 * unused)
	for name, gone := range map[string]bool{
		"bridge-0123456789abcdef": true, ".bridge-0123456789abcdef123456": true, "bridge-fedcba9876543210": false, "bridge-notes": false, "base-1.tar": false,
	} {
		path := filepath.Join(cache, name)
		if err := os.WriteFile(path, nil, 0o555); err != nil {
			t.Fatal(err)
		}
		if name == "bridge-fedcba9876543210" {
			continue // just written
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) != gone {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	path, err := lay(cache, []byte("mine"))
	if err == nil {
		err = os.Chtimes(path, old, old)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is asked for again stays
		if _, err := lay(cache, []byte("mine")); err != nil {
			t.Fatal(err)
		}
		if _, err := lay(cache, []byte("another")); err != nil || mustStat(t, path).ModTime().Before(old.Add(unused)) {
			t.Errorf("%v; last asked for at %v", err, mustStat(t, path).ModTime())
		}
	}
}

// lay installs data as if it were a bridge.
func lay(cache string, data []byte) (string, error) {
	return install(cache, sha256.Sum256(data), func() ([]byte, error) { return data, nil })
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func overwrite(path string, data []byte, mode os.FileMode) error {
	return errors.Join(os.Remove(path), os.WriteFile(path, data, mode), os.Chmod(path, mode))
}
