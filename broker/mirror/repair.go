package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Repair checks the mirror. If it is damaged, Repair fetches everything again and returns true.
func (m *Mirror) Repair(ctx context.Context) (bool, error) {
	_, err := m.local(ctx, "fsck", "--no-dangling", "--no-progress")
	var limit *gitrun.Limit
	if err == nil || errors.As(err, &limit) || ctx.Err() != nil { // a Limit: it is too large to be checked
		return false, context.Cause(ctx)
	}
	if m.tell != nil {
		m.tell("the mirror in the cache is damaged; fetching everything again", false)
	}
	if err := m.rebuild(ctx); err != nil {
		return false, err
	}
	if err := m.replace(context.WithoutCancel(ctx)); err != nil {
		return false, fmt.Errorf("repair the mirror of %s: %w", m.remote, err)
	}
	m.Commit, err = m.local(ctx, "rev-parse", "--verify", "--quiet", "refs/remotes/origin/"+m.Branch+"^{commit}")
	return true, err
}

// replace moves the content of the fresh mirror into the present one. The objects directory itself
// stays, because containers have it mounted.
func (m *Mirror) replace(ctx context.Context) error {
	packs, err := os.ReadDir(filepath.Join(m.fresh(), "objects", "pack"))
	if err != nil {
		return err
	}
	objects := filepath.Join(m.Dir, "objects")
	if err := os.MkdirAll(filepath.Join(objects, "pack"), 0o755); err != nil { //nolint:gosec // reachable only through a private parent
		return err
	}
	keep := []string{filepath.Join(objects, "pack")}
	for _, index := range []bool{false, true} { // git finds a pack by its index
		for _, f := range packs {
			if index != (filepath.Ext(f.Name()) == ".idx") {
				continue
			}
			to := filepath.Join(objects, "pack", f.Name())
			if err := os.Rename(filepath.Join(m.fresh(), "objects", "pack", f.Name()), to); err != nil {
				return err
			}
			keep = append(keep, to)
		}
	}
	for _, dir := range []string{objects, filepath.Join(objects, "pack")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); !slices.Contains(keep, path) {
				err = errors.Join(err, dirtree.Remove(ctx, path))
			}
		}
		if err != nil {
			return err
		}
	}
	for _, name := range []string{"packed-refs", "refs", "HEAD", "config"} {
		err := dirtree.Remove(ctx, filepath.Join(m.Dir, name))
		if err == nil {
			err = os.Rename(filepath.Join(m.fresh(), name), filepath.Join(m.Dir, name))
		}
		if err != nil && (name != "packed-refs" || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return dirtree.Remove(ctx, m.fresh())
}
