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

// maxGuarded bounds the search for hard links to protected files. To look at so many
// takes some seconds. What agents write does not count; tests lower it.
var maxGuarded = 2_000_000

// linkIndex knows the identities of those files below protected directories that have
// several names. It is made for one call, and only when the call names such a file,
// because finding them means to look at every file.
type linkIndex struct {
	dirs map[string]map[pathx.Ident]struct{}
	seen int
}

// holds reports whether a file with that identity has a name below dir.
func (x *linkIndex) holds(ctx context.Context, g *guard, dir string, id pathx.Ident) (bool, error) {
	if _, done := x.dirs[dir]; !done {
		if err := x.read(ctx, g, dir); err != nil {
			return false, err
		}
	}
	_, found := x.dirs[dir][id]
	return found, nil
}

func (x *linkIndex) read(ctx context.Context, g *guard, dir string) error {
	files := map[pathx.Ident]struct{}{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went away meanwhile
		case ctx.Err() != nil:
			return ctx.Err()
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
		case errors.Is(err, unix.ENOENT): // it went away meanwhile
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
