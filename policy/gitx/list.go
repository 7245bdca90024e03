package gitx

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// list reads the names in a directory, in order, and at most so many of them: whoever
// made the directory chose how many there are.
func list(dir string, most int) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	var all []fs.DirEntry
	for {
		some, err := d.ReadDir(1024)
		all = append(all, some...)
		switch {
		case errors.Is(err, io.EOF):
			slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, err
		case len(all) > most:
			return nil, errTooMany
		}
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
