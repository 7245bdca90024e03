package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Tree describes what a tree was made from, for a session's record.
type Tree struct {
	Repository string `json:"repository"` // the top directory of the person's repository, or the URL of a clone
	Common     string `json:"gitDir"`     // the repository's directory of objects and branches; for a clone, our mirror
	Branch     string `json:"branch"`     // in both repositories; for a clone, the remote's branch
	Base       string `json:"base"`       // the commit that the tree was made from
	// Cloned means that the repository is at a URL. Commits are not copied there, so that only the
	// tree has those that were not pushed.
	Cloned bool `json:"cloned,omitempty"`
}

// Tree returns the tree that Make makes from the source.
func (s Source) Tree(branch string) Tree {
	return Tree{Repository: s.Top, Common: s.Common, Branch: branch, Base: s.Head, Cloned: s.cloned}
}

// Objects returns the directory of objects that the tree borrows. The agent sees it read-only at the
// same path.
func (t Tree) Objects() string { return filepath.Join(t.Common, "objects") }

// Place is where a tree is.
type Place struct {
	Dir  string // the working tree with its own .git, for the agent
	Keep string // our repository beside it, which nobody else uses
}

// ErrLate is the cause of a context that ends because the process must end. The next call of Settle
// does the unfinished work.
var ErrLate = errors.New("there was no time to finish it")

// Made reports whether there is a tree at the place.
func (p Place) Made() bool { return isDir(p.Dir) && isDir(p.Keep) }

// ReadOnly returns the paths below a tree that an agent must not change, because git runs them or
// finds its repository by them: fixed must not be written to, and kept, which contain fixed, must
// not be moved.
func ReadOnly() (fixed, kept []string) {
	return []string{".git/config", ".git/hooks", ".git/commondir", ".git/objects/info"}, []string{".git", ".git/objects"}
}

// Make makes the tree at its base and the branch in the person's repository. It replaces what an
// interrupted Make has left, and fails if there is a tree already.
func (p Place) Make(ctx context.Context, s Source, t Tree) error {
	if p.Made() {
		return fmt.Errorf("make worktree: %s exists already", p.Dir)
	}
	if err := p.checkWhole(); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if err := t.makeBranch(ctx); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	fresh := Place{Dir: p.Dir + ".new", Keep: p.Keep + ".new"}
	err := errors.Join(fresh.remove(ctx), p.remove(ctx))
	if err == nil {
		err = fresh.fill(ctx, s, t)
	}
	if err == nil {
		err = os.Rename(fresh.Keep, p.Keep)
	}
	if err == nil {
		err = p.borrowFrom(p.Dir, t)
	}
	if err == nil {
		err = os.Rename(fresh.Dir, p.Dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make worktree: %w", err), fresh.remove(context.WithoutCancel(ctx)), p.remove(context.WithoutCancel(ctx)))
	}
	return nil
}

// checkWhole fails if there is a tree without our repository, so that nobody can say what is new in
// the tree.
func (p Place) checkWhole() error {
	if isDir(p.Dir) && !isDir(p.Keep) {
		return refuse("save the files that you need, then remove "+p.Dir, "%s exists, but %s does not", p.Dir, p.Keep)
	}
	return nil
}

// Gone returns the path to which remove moves a tree before it deletes its files.
func (p Place) Gone() string { return p.Dir + ".gone" }

// remove removes both parts. After an interruption Made reports false, and the next call removes the
// rest.
func (p Place) remove(ctx context.Context) error {
	gone := p.Gone()
	err := dirtree.Remove(ctx, gone)
	if err == nil {
		err = os.Rename(p.Dir, gone)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = dirtree.Remove(ctx, gone)
	}
	if err == nil {
		err = dirtree.Remove(ctx, p.Keep)
	}
	return err
}

// makeBranch makes the branch in the person's repository, at the base. An existing branch stays as
// it is: it belongs to a resumed session whose tree is made again. A clone's branch is the remote's.
func (t Tree) makeBranch(ctx context.Context) error {
	if t.Cloned {
		return nil
	}
	if at, err := t.branchAt(ctx); err != nil || at != "" {
		return err
	}
	_, err := t.person().run(ctx, "update-ref", "-m", "ironcurtain-mux: worktree", t.ref(), t.Base, strings.Repeat("0", len(t.Base)))
	return err
}

// branchAt returns the commit of the branch in the person's repository, or "" if there is no such
// branch.
func (t Tree) branchAt(ctx context.Context) (string, error) {
	return t.person().run(ctx, "for-each-ref", "--format=%(objectname)", t.ref())
}

func (t Tree) ref() string { return "refs/heads/" + t.Branch }

// person returns the person's repository, or the mirror of a clone.
func (t Tree) person() git { return git{dir: t.Common, indexes: gitrun.Indexes(t.Objects())} }

// fill makes both repositories and checks out the files.
func (p Place) fill(ctx context.Context, s Source, t Tree) error {
	format := "sha1"
	if len(t.Base) == 64 {
		format = "sha256"
	}
	for _, args := range [][]string{
		{"--initial-branch=" + t.Branch, p.Dir},
		{"--bare", p.Keep},
	} {
		if _, err := (git{}).run(ctx, append([]string{"init", "--quiet", "--template=", "--object-format=" + format}, args...)...); err != nil {
			return err
		}
	}
	if err := p.write(s, t); err != nil {
		return err
	}
	if err := p.configure(ctx, s, t); err != nil {
		return err
	}
	keep := p.keep(t)
	if err := keep.fits(ctx, t.Base); err != nil {
		next := "leave out --worktree"
		if t.Cloned {
			next = "clone the repository yourself, then open the clone with --workspace DIR"
		}
		return &fault.Error{Op: "worktree", Err: err, Next: next}
	}
	for _, args := range [][]string{
		{"update-ref", "--no-deref", "HEAD", t.Base},
		{"read-tree", "-m", "-u", t.Base},
	} {
		if _, err := keep.run(ctx, args...); err != nil {
			return err
		}
	}
	return copyFile(filepath.Join(p.Dir, ".git/index"), filepath.Join(p.Keep, "index"))
}

// copyFile copies a file of ours to a new one.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// keep returns our repository, with the working tree.
func (p Place) keep(t Tree) git {
	indexes := gitrun.Indexes(t.Objects()) + gitrun.Indexes(filepath.Join(p.Dir, ".git/objects"))
	return git{dir: p.Keep, tree: p.Dir, indexes: indexes}
}

// write writes into both repositories what they need to know about the person's: where to borrow
// objects, the branches, tags and remote branches, and where the history is cut off.
func (p Place) write(s Source, t Tree) error {
	refs, err := s.repo.Refs("refs/")
	if err != nil {
		return refuse("pack its references: git pack-refs --all", "%s: %w", s.Top, err)
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name != t.ref() && (strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") || strings.HasPrefix(name, "refs/remotes/")) {
			fmt.Fprintf(&packed, "%s %s\n", refs[name], name)
		}
	}
	own := filepath.Join(p.Dir, ".git")
	files := map[string]string{
		own + "/commondir":                    ".\n", // names itself; an agent cannot change it (see ReadOnly)
		own + "/objects/info/alternates":      t.Objects() + "\n",
		own + "/packed-refs":                  packed.String(),
		own + "/" + t.ref():                   t.Base + "\n",
		p.Keep + "/packed-refs":               packed.String(),
		filepath.Join(own, "info", "exclude"): "",
	}
	if shallow, err := os.ReadFile(filepath.Join(s.Common, "shallow")); err == nil {
		files[own+"/shallow"], files[p.Keep+"/shallow"] = string(shallow), string(shallow)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.Mkdir(own+"/hooks", 0o700), p.borrowFrom(p.Dir, t))
}

// borrowFrom lets our repository read the objects of the tree and of the person's repository.
func (p Place) borrowFrom(dir string, t Tree) error {
	text := filepath.Join(dir, ".git/objects") + "\n" + t.Objects() + "\n"
	path := filepath.Join(p.Keep, "objects/info/alternates")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// configure gives the tree the person's name for commits and their remotes, without addresses that
// contain a password. A clone's branch follows the remote's.
func (p Place) configure(ctx context.Context, s Source, t Tree) error {
	type setting struct{ name, value string }
	var all []setting
	for _, name := range []string{"name", "email"} {
		if value := s.repo.Setting("user", "", name); value != "" {
			all = append(all, setting{"user." + name, value})
		}
	}
	for _, remote := range s.repo.Remotes() {
		for _, name := range []string{"url", "pushurl", "fetch"} {
			for _, value := range s.repo.Settings("remote", remote, name) {
				if !hasPassword(value) {
					all = append(all, setting{"remote." + remote + "." + name, value})
				}
			}
		}
	}
	if t.Cloned {
		all = append(all, setting{"branch." + t.Branch + ".remote", "origin"}, setting{"branch." + t.Branch + ".merge", t.ref()})
	}
	config := filepath.Join(p.Dir, ".git/config")
	for _, one := range all {
		if _, err := (git{}).run(ctx, "config", "--file", config, "--add", one.name, one.value); err != nil {
			return err
		}
	}
	return nil
}

func hasPassword(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User != nil && strings.HasPrefix(u.Scheme, "http")
}
