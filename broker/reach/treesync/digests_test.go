package treesync

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A digest is reused only if the file was old enough when it was read and has not changed since: on
// many file systems two changes within one tick have the same stamps.
func TestDigestsOfYoungFiles(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	write(t, dir, files{"a": "1"})
	for name, c := range map[string]struct {
		read   time.Duration // after it changed
		change func() error
		counts bool
	}{
		"at once":       {read: 0},
		"a second":      {read: time.Second},
		"rested":        {read: racyAge, counts: true},
		"clock is back": {read: -time.Hour},
		"mode changed":  {read: racyAge, change: func() error { return os.Chmod(filepath.Join(dir, "a"), 0o600) }},
		"replaced": {read: racyAge, change: func() error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "b"), []byte("2"), 0o600), os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "a")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDigests()
			info, err := root.Lstat("a")
			must(t, err)
			d.store(info, time.Unix(0, stampOf(info).changed).Add(c.read), digest{1})
			if c.change != nil {
				must(t, c.change())
				info, err = root.Lstat("a")
				must(t, err)
			}
			if _, ok := d.lookup(info); ok != c.counts {
				t.Errorf("it counts: %v", ok)
			}
		})
	}
}

// The digests of deleted files are dropped.
func TestDigestsAreForgotten(t *testing.T) {
	p := start(t)
	write(t, p.container, files{"a": "1", "b": "2", "l": "@a"})
	p.sync()
	write(t, p.container, files{"b": "", "l": ""})
	p.sync()
	p.sync()
	if container, host := len(p.server.digests["workspace"].all), len(p.tree.digests.all); container != 1 || host != 1 {
		t.Errorf("%d there and %d here are remembered", container, host)
	}
}
