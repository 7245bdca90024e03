package gitx

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// list reads the names in a directory, in order, and little more than so many of them:
// whoever made the directory chose how many there are. Where there are more it returns
// those that it read, and errTooMany.
func list(dir string, most int) ([]fs.DirEntry, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0) // never waits on a pipe in its place
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	var all []fs.DirEntry
	for {
		some, err := d.ReadDir(1024)
		all = append(all, some...)
		ended := errors.Is(err, io.EOF)
		switch {
		case err != nil && !ended:
			return nil, err
		case !ended && len(all) <= most:
			continue
		}
		slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		if !ended {
			return all, errTooMany
		}
		return all, nil
	}
}

// listed is a link or a directory in a directory.
type listed struct {
	name string
	link bool
}

// readNames reads a directory for the links and the directories in it.
func readNames(dir string) reading {
	all, err := list(dir, maxLooked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reading{}
	case errors.Is(err, errTooMany):
		return reading{err: err}
	case err != nil:
		return reading{err: errUnlisted}
	}
	r := reading{count: len(all)}
	for _, e := range all {
		if link := e.Type()&fs.ModeSymlink != 0; link || e.IsDir() {
			r.names = append(r.names, listed{name: e.Name(), link: link})
		}
	}
	return r
}
