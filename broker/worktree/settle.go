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
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Outcome is what became of a tree that nobody works in any more.
type Outcome struct {
	Removed bool // there was nothing in it; the branch is gone as well
	// Commits is how many commits the branch has beyond the base; all of them are
	// in the person's repository now unless Stuck says why not.
	Commits int
	Stuck   string
	// Left says in words what only the tree has; empty when the person's
	// repository has everything.
	Left string
}

// Whole reports whether the person's repository has everything that is in the
// tree.
func (o Outcome) Whole() bool { return o.Stuck == "" && o.Left == "" }

// Settle brings the commits of the tree's branch to the person's repository, and
// removes the tree together with the branch when there is nothing in it. Nothing
// may work in the tree meanwhile.
func (p Place) Settle(ctx context.Context, t Tree) (Outcome, error) {
	if err := p.whole(); err != nil {
		return Outcome{}, fmt.Errorf("look at worktree: %w", err)
	}
	if !p.Made() { // its making may have failed behind the branch
		return Outcome{Removed: true}, p.Remove(ctx, t)
	}
	const next = "save what you need of it, then remove it with 'ironcurtain-mux sessions rm --force'"
	if err := plain(filepath.Join(p.Dir, ".git"), next); err != nil {
		return Outcome{}, fmt.Errorf("look at worktree: %w", err)
	}
	if err := t.Plain(); err != nil {
		return Outcome{}, fmt.Errorf("look at worktree: %w", err)
	}
	tip, others, err := p.tips(t)
	if err != nil {
		return Outcome{}, fmt.Errorf("look at worktree: %w", err)
	}
	var o Outcome
	if tip != t.Base {
		if o.Commits, err = p.bring(ctx, t, tip); err != nil {
			o.Stuck = err.Error()
		}
	}
	if o.Left, err = p.left(ctx, t, tip, others); err != nil {
		return o, fmt.Errorf("look at worktree: %w", err)
	}
	if tip != t.Base || !o.Whole() {
		return o, nil
	}
	if empty, err := p.noObjects(); err != nil || !empty {
		o.Left = "objects that no branch leads to"
		return o, err
	}
	o.Removed = true
	return o, p.Remove(ctx, t)
}

// Remove removes the tree, whatever is in it, and the branch in the person's
// repository while it is still where it began.
func (p Place) Remove(ctx context.Context, t Tree) error {
	at, err := t.branchAt(ctx)
	if err == nil && at == t.Base {
		_, err = t.person().run(ctx, "update-ref", "-d", t.ref(), t.Base)
	}
	if _, gone := os.Stat(t.Common); errors.Is(gone, fs.ErrNotExist) {
		err = nil // the person has removed their repository
	}
	return errors.Join(err, p.remove())
}

// tips reads, without running git, the commit of the tree's branch and those of
// everything else that was not there when the tree was made.
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

// bring copies the commits up to tip to the person's repository, checked by git,
// and lets the branch there follow, unless the person has moved it meanwhile. It
// returns how many commits the branch has.
func (p Place) bring(ctx context.Context, t Tree, tip string) (int, error) {
	keep := git{dir: p.Keep}
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
	brought, _ := keep.run(ctx, "for-each-ref", "--format=%(objectname)", broughtRef) // none yet is empty
	switch {
	case brought == tip:
		return commits, nil // the person has it, and did something else with the branch
	case at == "" || at == t.Base || at == brought:
	default:
		return commits, fmt.Errorf("branch %s was moved in %s", t.Branch, t.Repository)
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

// broughtRef is, in our repository, the newest commit that was brought to the
// person's.
const broughtRef = "refs/brought"

// copyObjects puts the objects behind tip into the person's store. Their
// repository's configuration takes no part, and what git's own check complains of
// does not get in.
func (p Place) copyObjects(ctx context.Context, t Tree, tip string) error {
	pack, err := os.CreateTemp(p.Keep, "brought-")
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	wanted := strings.NewReader(tip + "\n^" + t.Base + "\n")
	if err := (git{dir: p.Keep}).pipe(ctx, wanted, pack, "pack-objects", "--revs", "--stdout", "--quiet"); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return git{dir: p.Keep, objects: t.Objects()}.pipe(ctx, pack, io.Discard, "index-pack", "--stdin", "--strict")
}

// lookTime bounds looking for changes in the files of a tree; tests shorten it.
var lookTime = time.Minute

// left says what would be lost with the tree.
func (p Place) left(ctx context.Context, t Tree, tip string, others []string) (string, error) {
	keep := git{dir: p.Keep, tree: p.Dir}
	if _, err := keep.run(ctx, "update-ref", "--no-deref", "HEAD", tip); err != nil {
		return "", err
	}
	var what []string
	changed, err := p.changed(ctx, keep, tip)
	if err != nil {
		return "", err
	}
	if changed != "" {
		what = append(what, changed)
	}
	if len(others) > 0 {
		count, err := keep.run(ctx, append([]string{"rev-list", "--count", "--not", "--branches", "--tags", "--remotes", t.Base, tip, "--not"}, others...)...)
		if err != nil {
			return "", err
		}
		if count != "0" {
			what = append(what, "commits on other branches")
		}
	}
	return strings.Join(what, " and "), nil
}

// changed says in words what of the files is not in the commit, or nothing. An agent can
// put a pipe where git looks for patterns, attributes and repositories in the files,
// and git waits on it; so this has a time of its own, after which there may be changes.
func (p Place) changed(ctx context.Context, keep git, tip string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := keep.run(limited, "read-tree", "--reset", tip)
	var files something
	if err == nil {
		err = keep.pipe(limited, nil, &files, "status", "--porcelain", "--ignore-submodules=all")
	}
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return fmt.Sprintf("files that git did not look through in %v", lookTime), nil
	case err != nil:
		return "", err
	case bool(files):
		return "changes that are not committed", nil
	}
	return "", nil
}

// noObjects reports whether the tree has no objects of its own: nothing was ever
// committed, staged or stashed.
func (p Place) noObjects() (bool, error) {
	empty := true
	err := filepath.WalkDir(filepath.Join(p.Dir, ".git/objects"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return nil
		}
		if filepath.Base(filepath.Dir(path)) != "info" {
			empty = false
			return fs.SkipAll
		}
		return nil
	})
	return empty, err
}
