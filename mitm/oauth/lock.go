package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// staleAfter is how old the time stamp of a lock directory may become, and
	// heartbeat how often its owner renews it.
	staleAfter = 60 * time.Second
	heartbeat  = 5 * time.Second
	lockPoll   = 50 * time.Millisecond
)

// lockAll takes the lock directories in order. The returned function releases
// them; it waits until nothing of the lock is left running.
func lockAll(ctx context.Context, paths []string) (release func(), err error) {
	var taken []string
	undo := func() {
		for i := len(taken) - 1; i >= 0; i-- {
			_ = os.Remove(taken[i])
		}
	}
	for _, path := range paths {
		if err := lock(ctx, path); err != nil {
			undo()
			return nil, fmt.Errorf("take the lock %s: %w", path, err)
		}
		taken = append(taken, path)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go beat(taken, stop, done)
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		undo()
	}), nil
}

// beat shows that the locks are held by somebody alive.
func beat(paths []string, stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-tick.C:
			for _, path := range paths {
				_ = os.Chtimes(path, now, now)
			}
		}
	}
}

// lock makes a directory, which succeeds for one process only.
func lock(ctx context.Context, path string) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if stale(path) {
			takeOver(path)
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another program holds it: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// stale says whether the owner of a lock has died. A time stamp far in the
// future comes from a clock that was set back, and counts as stale too.
func stale(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	age := time.Since(info.ModTime())
	return age > staleAfter || age < -staleAfter
}

// takeOver moves a stale lock away; of several that try, one succeeds.
func takeOver(path string) {
	aside := filepath.Join(filepath.Dir(path), "."+rand.Text()+".stale")
	if os.Rename(path, aside) == nil {
		_ = os.RemoveAll(aside)
	}
}
