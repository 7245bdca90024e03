package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// maxGuarded is how many files the search for hard links to protected files may look at.
// That takes some seconds. Directories that agents write to are not searched. Tests lower
// the bound.
var maxGuarded = 2_000_000

// linkIndex knows the identities of files below protected directories that have several
// hard links. It is made for one call, and only if the call names a file with several
// hard links, because making it means looking at every file.
type linkIndex struct {
	dirs map[string]map[pathx.Ident]struct{}
	seen int
}

// contains reports whether a file with that identity lies below dir.
func (x *linkIndex) contains(ctx context.Context, g *guard, dir string, id pathx.Ident) (bool, error) {
	if _, done := x.dirs[dir]; !done {
		if err := x.read(ctx, g, dir); err != nil {
			return false, err
		}
	}
	_, found := x.dirs[dir][id]
	return found, nil
}

// searching has room for the one search that goes on. Among very many files it takes a
// second of a processor and their names in memory, and an agent can make any call need it.
var searching = make(chan struct{}, 1)

func (x *linkIndex) read(ctx context.Context, g *guard, dir string) error {
	select {
	case searching <- struct{}{}:
		defer func() { <-searching }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	files := map[pathx.Ident]struct{}{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return errors.New("a protected directory cannot be listed to look for hard links")
		case d.IsDir() && name != dir && (slices.Contains(g.open, name) || g.agents(name)):
			return fs.SkipDir
		}
		if x.seen++; x.seen > maxGuarded {
			return fmt.Errorf("there are more than %d protected files, too many to look for hard links", maxGuarded)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		var st unix.Stat_t
		switch err := unix.Lstat(name, &st); {
		case errors.Is(err, unix.ENOENT): // it was removed meanwhile
		case err != nil:
			return errors.New("a protected file cannot be looked at for hard links")
		case st.Nlink > 1:
			files[pathx.Ident{Dev: uint64(st.Dev), Ino: st.Ino}] = struct{}{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if x.dirs == nil {
		x.dirs = map[string]map[pathx.Ident]struct{}{}
	}
	x.dirs[dir] = files
	return nil
}
