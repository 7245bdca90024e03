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

// list returns the sorted entries of a directory. It reads little more than most entries,
// because the agent may have chosen how many there are. If there are more, it returns the
// entries that it has read, and errTooMany.
func list(dir string, most int) ([]fs.DirEntry, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0) // O_DIRECTORY: never blocks on a pipe
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

// readNames reads the links and the directories in a directory.
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
