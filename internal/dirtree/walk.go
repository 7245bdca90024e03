package dirtree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Bounds of a walk. Each level takes a few dozen bytes, and each entry from less than one to a few
// microseconds.
const (
	maxEntries = 1 << 20
	maxDepth   = 1 << 17
	maxHeld    = 32 << 20 // bytes of the names of directories that are still to be walked
)

// Entry is an entry that a walk has found. Use its name relative to the open directory Dir, so that
// nobody can replace a directory on the way by a link.
type Entry struct {
	Dir   *os.File // the directory of the entry, open during the visit
	Name  string
	Depth int // 1 in the directory that is walked
	Stat  unix.Stat_t
	walk  *walk
}

// Path returns the entry's path, relative to the directory that is walked. It may have any
// length.
func (e *Entry) Path() string { return filepath.Join(append(e.walk.path(), e.Name)...) }

// IsDir reports whether the entry is a directory.
func (e *Entry) IsDir() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFDIR }

// IsRegular reports whether the entry is a regular file.
func (e *Entry) IsRegular() bool { return e.Stat.Mode&unix.S_IFMT == unix.S_IFREG }

// Limit is the error for a tree that is too large to be walked.
type Limit struct{ What string }

func (l *Limit) Error() string { return "there are " + l.What }

// Walk calls visit for every entry below a directory, and for all entries of a directory
// before those of its subdirectories. When visit returns fs.SkipDir, Walk leaves out the
// directory's entries; fs.SkipAll ends the walk. Any other error ends it, too, and is
// returned with the path. Walk skips an entry that disappears, and returns an error when a
// directory is moved while the walk is in it. More than a million entries, or 32 MB of
// pending directory names, are a *Limit.
func Walk(ctx context.Context, dir string, visit func(*Entry) error) error {
	return (&walk{ctx: ctx, visit: visit}).run(dir)
}

// Prune removes the directories below one that contain nothing but directories. It has the
// limits of Walk.
func Prune(ctx context.Context, dir string) error {
	return (&walk{ctx: ctx, prune: true, visit: func(*Entry) error { return nil }}).run(dir)
}

func (w *walk) run(dir string) error {
	defer func() {
		if w.dir != nil {
			_ = w.dir.Close()
		}
	}()
	err := w.enter(unix.AT_FDCWD, dir)
	for err == nil && len(w.levels) > 0 {
		last := &w.levels[len(w.levels)-1]
		if n := len(last.below); n > 0 {
			name := last.below[n-1]
			last.below = last.below[:n-1]
			w.held -= len(name)
			err = w.enter(int(w.dir.Fd()), name)
			if gone(err) {
				err = nil
			}
			continue
		}
		left := last.name
		w.levels = w.levels[:len(w.levels)-1]
		if len(w.levels) > 0 {
			err = w.leave()
		}
		if err == nil && len(w.levels) > 0 && w.prune {
			_ = unix.Unlinkat(int(w.dir.Fd()), left, unix.AT_REMOVEDIR) // fails if the directory is not empty
		}
	}
	if err == nil || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return fmt.Errorf("%s: %w", Short(filepath.Join(append([]string{dir}, w.path()...)...)), err)
}

// gone reports whether an error means that a directory has disappeared or been replaced.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

type walk struct {
	ctx    context.Context
	visit  func(*Entry) error
	prune  bool // remove each directory that is empty when the walk leaves it
	seen   int
	held   int      // bytes of the names in all levels
	dir    *os.File // the directory of the last level
	levels []level
}

// level is the current directory of a walk, or one above it.
type level struct {
	name     string
	dev, ino uint64
	below    []string // its subdirectories that are still to be walked
}

// path returns the path of the current directory, relative to the start of the walk.
func (w *walk) path() []string {
	var names []string
	for _, l := range w.levels[min(1, len(w.levels)):] {
		names = append(names, l.name)
	}
	return names
}

// enter opens a directory inside the given one, makes it the last level and visits its
// entries.
func (w *walk) enter(from int, name string) error {
	fd, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l := level{name: name}
	if err := w.standIn(fd, &l); err != nil {
		return err
	}
	if w.levels = append(w.levels, l); len(w.levels) > maxDepth {
		return &Limit{fmt.Sprintf("more than %d directories inside each other", maxDepth)}
	}
	return w.list(&w.levels[len(w.levels)-1])
}

// leave goes back to the directory of the last level, and checks that it is the same
// directory as before.
func (w *walk) leave() error {
	fd, err := unix.Openat(int(w.dir.Fd()), "..", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var now level
	if err := w.standIn(fd, &now); err != nil {
		return err
	}
	if was := w.levels[len(w.levels)-1]; was.dev != now.dev || was.ino != now.ino {
		return errors.New("a directory was moved meanwhile")
	}
	return nil
}

// standIn makes an open directory the current one, and notes its identity.
func (w *walk) standIn(fd int, l *level) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return err
	}
	if w.dir != nil {
		_ = w.dir.Close()
	}
	w.dir = os.NewFile(uintptr(fd), "")
	l.dev, l.ino = uint64(st.Dev), st.Ino
	return nil
}

// list visits the entries of the current directory.
func (w *walk) list(l *level) error {
	for {
		names, err := w.dir.Readdirnames(batch)
		for _, name := range names {
			if err := w.look(l, name); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// look visits one entry.
func (w *walk) look(l *level, name string) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.seen++; w.seen > maxEntries {
		return &Limit{fmt.Sprintf("more than %d entries", maxEntries)}
	}
	e := Entry{Dir: w.dir, Name: name, Depth: len(w.levels), walk: w}
	err := unix.Fstatat(int(w.dir.Fd()), name, &e.Stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err == nil {
		err = w.visit(&e)
	}
	switch {
	case errors.Is(err, fs.SkipDir):
		return nil
	case err != nil:
		return err
	case e.IsDir():
		if w.held += len(name); w.held > maxHeld {
			return &Limit{fmt.Sprintf("more than %d MB of names of directories", maxHeld>>20)}
		}
		l.below = append(l.below, name)
	}
	return nil
}
