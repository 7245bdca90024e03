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
	// staleAfter is the age of a lock directory's time stamp from which the lock counts
	// as abandoned. heartbeat is how often its owner renews the time stamp.
	staleAfter = 60 * time.Second
	heartbeat  = 5 * time.Second
	lockPoll   = 50 * time.Millisecond
)

// ours is the mode bit that marks the lock directories of this package. The programs that
// share the locks do not set it and ignore it.
const ours = fs.ModeSticky

// lockAll takes the lock directories in order. The returned function releases them and
// waits until the heartbeat has stopped. lockAll makes the directory guard if it does not
// exist, because a login in a keychain has none.
//
// This program's processes exclude each other by a kernel lock on the directory guard.
// The kernel releases it when its process ends. So the process that holds the kernel lock
// knows that an existing lock directory of this package was left by a killed process.
func lockAll(ctx context.Context, guard string, paths []string) (release func(), err error) {
	if err := os.MkdirAll(guard, 0o700); err != nil {
		return nil, err
	}
	alone, err := lockGuard(ctx, guard)
	if err != nil {
		return nil, err
	}
	var taken []string
	undo := func() {
		for i := len(taken) - 1; i >= 0; i-- {
			if marked(taken[i]) { // otherwise another program considered it stale and took it over
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
	go heartbeats(taken, stop, done)
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		undo()
	}), nil
}

// lockGuard takes the kernel lock on a directory and waits while another process has it.
// It returns nil if the file system does not support such locks.
func lockGuard(ctx context.Context, dir string) (*os.File, error) {
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

// heartbeats renews the locks' time stamps until stop is closed.
func heartbeats(paths []string, stop <-chan struct{}, done chan<- struct{}) {
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

// lock makes a lock directory, which only one process can do, and waits while another
// process has it. alone says that a lock directory of this package cannot belong to a running
// process.
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
			return fmt.Errorf("another program holds the lock: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// stale reports whether the owner of a lock has probably died. A time stamp far in the
// future comes from a clock that was set back, and counts as stale as well.
func stale(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	age := time.Since(info.ModTime())
	return age > staleAfter || age < -staleAfter
}

// marked reports whether this package made a lock directory.
func marked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&ours != 0
}

// takeOver removes a stale lock by renaming it first; if several programs try, only one
// succeeds.
func takeOver(path string) bool {
	aside := filepath.Join(filepath.Dir(path), "."+rand.Text()+".stale")
	return os.Rename(path, aside) == nil && os.RemoveAll(aside) == nil
}
