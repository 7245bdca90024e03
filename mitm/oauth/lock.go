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
	"syscall"
	"time"
)

const (
	// staleAfter is how old the time stamp of a lock directory may become, and
	// heartbeat how often its owner renews it.
	staleAfter = 60 * time.Second
	heartbeat  = 5 * time.Second
	lockPoll   = 50 * time.Millisecond
)

// ours marks the lock directories that this package makes. The programs that
// share them neither set nor mind it.
const ours = fs.ModeSticky

// lockAll takes the lock directories in order. The returned function releases
// them; it waits until nothing of the lock is left running. The directory guard is
// made when it is not there: a login in a keychain needs none.
//
// Processes of ours keep apart by a lock of the kernel on the directory guard,
// which ends with its process: so whoever has it knows that a lock directory of
// ours was left behind by a process that was killed.
func lockAll(ctx context.Context, guard string, paths []string) (release func(), err error) {
	if err := os.MkdirAll(guard, 0o700); err != nil {
		return nil, err
	}
	alone, err := enter(ctx, guard)
	if err != nil {
		return nil, err
	}
	var taken []string
	undo := func() {
		for i := len(taken) - 1; i >= 0; i-- {
			if marked(taken[i]) { // else another program took it for stale
				_ = os.Remove(taken[i])
			}
		}
		_ = alone.Close()
	}
	for _, path := range paths {
		if err := lock(ctx, path, alone != nil); err != nil {
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

// enter waits until no other process of ours is at the directory. It returns nil
// where the file system has no such locks.
func enter(ctx context.Context, dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, f.Close()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock the directory %s: another ironcurtain-mux holds it: %w", dir, ctx.Err()), f.Close())
		case <-tick.C:
		}
	}
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

// lock makes a directory, which succeeds for one process only. Alone says that no
// other process of ours can have made it.
func lock(ctx context.Context, path string, alone bool) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		err := os.Mkdir(path, 0o700|ours)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if (alone && marked(path) || stale(path)) && takeOver(path) {
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

// marked says whether a lock is one of ours.
func marked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&ours != 0
}

// takeOver moves a stale lock away; of several programs that try, one succeeds.
func takeOver(path string) bool {
	aside := filepath.Join(filepath.Dir(path), "."+rand.Text()+".stale")
	return os.Rename(path, aside) == nil && os.RemoveAll(aside) == nil
}
