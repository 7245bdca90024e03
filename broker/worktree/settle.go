package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Outcome says what happened to a tree in which nobody works any more.
type Outcome struct {
	Removed bool // the tree had no work; its branch was removed, too
	// Commits is the number of commits that the branch has beyond the base, or 0 if they could not be
	// counted. All of them are in the person's repository now, or for a clone at the remote, unless
	// Stuck says why not.
	Commits int
	Stuck   string
	// TooLarge means that copying the commits would take more time or memory than git may use.
	// Somebody should examine them first.
	TooLarge bool
	// Left describes what only the tree has, or is "".
	Left string
}

// Whole reports whether the person's repository has everything that is in the tree.
func (o Outcome) Whole() bool { return o.Stuck == "" && o.Left == "" }

// Settle copies the commits of the tree's branch to the person's repository. If the tree has no
// work, it removes the tree and the branch. Nobody may work in the tree meanwhile. The commits of a
// clone are not copied: they are stuck until they are pushed. If Settle returns an error and
// Removed, a part of the tree still exists, and Remove removes it. If ctx ends with ErrLate, the rest
// of the work is left for the next call.
func (p Place) Settle(ctx context.Context, t Tree) (Outcome, error) {
	if err := p.checkWhole(); err != nil {
		return Outcome{}, fmt.Errorf("examine worktree: %w", err)
	}
	if !p.Made() { // Make may have failed after it made the branch
		return Outcome{Removed: true}, p.Remove(ctx, t)
	}
	if err := p.prepare(ctx, t); err != nil {
		return Outcome{}, fmt.Errorf("examine worktree: %w", err)
	}
	tip, others, err := p.tips(t)
	if err != nil {
		return Outcome{}, fmt.Errorf("examine worktree: %w", err)
	}
	var o Outcome
	var limit *gitrun.Limit
	large := p.keep(t).fits(ctx, tip)
	if tip != t.Base {
		if t.Cloned {
			o.Commits, err = p.unpushed(ctx, t, tip)
		} else {
			o.Commits, err = p.copyCommits(ctx, t, tip, large)
		}
		if err != nil {
			o.Stuck, o.TooLarge = err.Error(), errors.As(err, &limit) || errors.Is(err, ErrLate)
		}
	}
	if err = large; err == nil {
		o.Left, err = p.left(ctx, t, tip, others)
	}
	switch {
	case errors.As(err, &limit), errors.Is(err, ErrLate):
		o.Left = fmt.Sprintf("files that were not examined (%v)", err)
	case err != nil:
		return o, fmt.Errorf("examine worktree: %w", err)
	}
	if tip != t.Base || !o.Whole() {
		return o, nil
	}
	if o.Left, err = p.unreferenced(ctx); err != nil || o.Left != "" {
		return o, err
	}
	o.Removed = true
	return o, p.Remove(ctx, t)
}

// prepare refuses a tree, or a repository to borrow from, that contains links. It removes what a git
// that was killed has left in our repository: locks, and parts of packs.
func (p Place) prepare(ctx context.Context, t Tree) error {
	const next = "save the files that you need, then remove the session with 'ironcurtain-mux sessions rm --force'"
	own := filepath.Join(p.Dir, ".git")
	err := checkPlain(ctx, own, next)
	if err == nil {
		err = t.Plain(ctx)
	}
	if err == nil {
		err = dirtree.Prune(ctx, filepath.Join(own, "refs"))
	}
	if err != nil {
		return err
	}
	for _, pattern := range []string{"*.lock", "refs/*.lock", "brought-*"} {
		left, err := filepath.Glob(filepath.Join(p.Keep, pattern))
		if err != nil {
			return err
		}
		for _, name := range left {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes the tree, whatever is in it, and the branch in the person's repository if it is
// still at the base.
func (p Place) Remove(ctx context.Context, t Tree) error {
	if t.Cloned {
		return p.remove(ctx)
	}
	at, err := t.branchAt(ctx)
	if err == nil && at == t.Base {
		_, err = t.person().run(ctx, "update-ref", "-d", t.ref(), t.Base)
	}
	if _, gone := os.Stat(t.Common); errors.Is(gone, fs.ErrNotExist) {
		err = nil // the person has removed their repository
	}
	return errors.Join(err, p.remove(ctx))
}

// tips reads, without running git, the commit of the tree's branch, and the commits of all other
// references that were added or moved since the tree was made.
func (p Place) tips(t Tree) (tip string, others []string, err error) {
	tree, err := gitx.Open(p.Dir, gitx.Home{})
	if err != nil {
		return "", nil, err
	}
	began, err := gitx.Open(p.Keep, gitx.Home{})
	if err != nil {
		return "", nil, err
	}
	known, err := began.Refs("refs/")
	if err != nil {
		return "", nil, err
	}
	now, err := tree.Refs("refs/")
	if err != nil {
		return "", nil, err
	}
	if now["HEAD"], err = tree.Ref("HEAD"); errors.Is(err, gitx.ErrNoRef) {
		delete(now, "HEAD") // on a branch without a commit
	} else if err != nil {
		return "", nil, err
	}
	if tip = now[t.ref()]; tip == "" {
		tip = t.Base
	}
	for name, id := range now {
		if id != tip && id != t.Base && known[name] != id {
			others = append(others, id)
		}
	}
	return tip, others, nil
}

// copyCommits copies the commits up to tip to the person's repository, checked by git, and moves the
// branch there to tip, unless the person has moved it meanwhile. It returns the number of commits.
// If large is not nil, it counts the commits but returns large instead of copying them.
func (p Place) copyCommits(ctx context.Context, t Tree, tip string, large error) (int, error) {
	keep := p.keep(t)
	count, err := keep.run(ctx, "rev-list", "--count", tip, "^"+t.Base)
	if err != nil {
		return 0, err
	}
	commits, err := strconv.Atoi(count)
	if err != nil {
		return 0, err
	}
	at, err := t.branchAt(ctx)
	if err != nil || at == tip {
		return commits, err
	}
	brought, _ := keep.run(ctx, "for-each-ref", "--format=%(objectname)", broughtRef) // "" if none was copied yet
	switch {
	case brought == tip:
		return commits, nil // the person has tip, and has moved the branch since
	case at == "" || at == t.Base || at == brought:
	default:
		return commits, fmt.Errorf("branch %s was moved in %s", t.Branch, t.Repository)
	}
	if large != nil {
		return commits, large
	}
	if err := p.copyObjects(ctx, t, tip); err != nil {
		return commits, err
	}
	old := at
	if old == "" {
		old = strings.Repeat("0", len(tip))
	}
	if _, err := t.person().run(ctx, "update-ref", "-m", "ironcurtain-mux: commits of a session", t.ref(), tip, old); err != nil {
		return commits, err
	}
	_, err = keep.run(ctx, "update-ref", broughtRef, tip)
	return commits, err
}

// broughtRef is the reference in our repository to the newest commit that was copied to the
// person's.
const broughtRef = "refs/brought"

// copyObjects copies the objects that tip needs into the person's repository. It ignores the
// configuration of that repository, and copies nothing that fails git's own check.
func (p Place) copyObjects(ctx context.Context, t Tree, tip string) error {
	pack, err := os.CreateTemp(p.Keep, "brought-")
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	wanted := strings.NewReader(tip + "\n^" + t.Base + "\n")
	keep := p.keep(t)
	if err := keep.pipe(ctx, wanted, pack, "pack-objects", "--revs", "--stdout", "--quiet"); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return t.receive(ctx, keep, pack)
}

// receive checks a pack in a separate directory among the person's objects, because git leaves the
// files of a bad pack. It moves a good pack to the others. If this process is killed, git's gc
// removes a directory of this name.
func (t Tree) receive(ctx context.Context, keep git, pack io.Reader) error {
	apart, err := os.MkdirTemp(t.Objects(), "tmp_objdir-incoming-")
	if err != nil {
		return err
	}
	keep.objects, keep.borrows = apart, t.Objects()
	err = keep.pipe(ctx, pack, nil, "index-pack", "--stdin", "--strict")
	if err == nil {
		err = moveFiles(filepath.Join(t.Objects(), "pack"), filepath.Join(apart, "pack"))
	}
	return errors.Join(err, dirtree.Remove(context.WithoutCancel(ctx), apart))
}

// moveFiles moves the files of a pack, with the index last, because git finds a pack by its index.
func moveFiles(to, from string) error {
	files, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o777) //nolint:gosec // as git makes it
	}
	for _, index := range []bool{false, true} {
		for _, f := range files {
			if err == nil && index == (filepath.Ext(f.Name()) == ".idx") {
				err = os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name()))
			}
		}
	}
	return err
}
