package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// linkIndex knows the identities of the files below protected directories. It
// is made for one call, and only when the call names a file that has several
// names, because finding them means to look at every file.
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
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away meanwhile
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.New("a protected directory cannot be listed to look for hard links")
		}
		if d.IsDir() && name != dir && slices.Contains(g.open, name) {
			return fs.SkipDir
		}
		if x.seen++; x.seen > maxGuarded {
			return errors.New("too many protected files to look for hard links")
		}
		if d.Type().IsRegular() {
			if id, ok := pathx.Identify(name); ok {
				files[id] = struct{}{}
			} else if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				return errors.New("a protected file cannot be looked at for hard links")
			}
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
