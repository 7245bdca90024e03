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
	Repository string `json:"repository"` // the person's: its top directory, or the URL of a clone
	Common     string `json:"gitDir"`     // where that keeps objects and branches; of a clone, our mirror
	Branch     string `json:"branch"`     // in both; of a clone, that of the remote
	Base       string `json:"base"`       // the commit it began with
	// Cloned means that the repository is elsewhere: nothing is brought there, and commits
	// that were not pushed are in the tree alone.
	Cloned bool `json:"cloned,omitempty"`
}

// Tree returns the tree that Make makes from the source.
func (s Source) Tree(branch string) Tree {
	return Tree{Repository: s.Top, Common: s.Common, Branch: branch, Base: s.Head, Cloned: s.cloned}
}

// Objects is the store that the tree borrows from, to be shown to the agent
// read-only at the same path.
func (t Tree) Objects() string { return filepath.Join(t.Common, "objects") }

// Place is where a tree is.
type Place struct {
	Dir  string // the working tree with its own .git, for the agent
	Keep string // our repository beside it, for nobody else
}

// ErrLate is the cause of a context that ends because the process must end. Unfinished work
// is kept for the next time.
var ErrLate = errors.New("there was no time to finish it")

// Made reports whether there is a tree at the place.
func (p Place) Made() bool { return isDir(p.Dir) && isDir(p.Keep) }

// ReadOnly are the files in a tree that must not be written to by an agent, and
// the directories that must not be moved out of the way with them, by their paths
// below the tree: what git runs, and what tells it where its repository is.
func ReadOnly() (fixed, kept []string) {
	return []string{".git/config", ".git/hooks", ".git/commondir", ".git/objects/info"}, []string{".git", ".git/objects"}
}

// Make makes the tree at its base and the branch in the person's repository. What
// an interrupted Make left is replaced; a tree that is there is an error.
func (p Place) Make(ctx context.Context, s Source, t Tree) error {
	if p.Made() {
		return fmt.Errorf("make worktree: %s is there already", p.Dir)
	}
	if err := p.whole(); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if err := t.raiseBranch(ctx); err != nil {
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

// whole says whether a tree is without what tells what is new in it.
func (p Place) whole() error {
	if isDir(p.Dir) && !isDir(p.Keep) {
		return refuse("save what you need of it, then remove it", "%s is there, but %s is not", p.Dir, p.Keep)
	}
	return nil
}

// Gone is where a tree is while it is removed, with all that an agent has left in it.
func (p Place) Gone() string { return p.Dir + ".gone" }

// remove removes both parts. The rest after an interrupted removal is no tree any more, and
// is removed the next time.
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

// raiseBranch makes the branch in the person's repository, at the base. It keeps an existing
// branch, which belongs to a resumed session whose tree is made again. A clone has its branch
// from the remote.
func (t Tree) raiseBranch(ctx context.Context) error {
	if t.Cloned {
		return nil
	}
	if at, err := t.branchAt(ctx); err != nil || at != "" {
		return err
	}
	_, err := t.person().run(ctx, "update-ref", "-m", "ironcurtain-mux: worktree", t.ref(), t.Base, strings.Repeat("0", len(t.Base)))
	return err
}

// branchAt returns the commit of the branch in the person's repository, or "" when there is
// no such branch.
func (t Tree) branchAt(ctx context.Context) (string, error) {
	return t.person().run(ctx, "for-each-ref", "--format=%(objectname)", t.ref())
}

func (t Tree) ref() string { return "refs/heads/" + t.Branch }

// person is the person's own repository.
func (t Tree) person() git { return git{dir: t.Common, indexes: gitrun.Indexes(t.Objects())} }

// fill makes both repositories and checks the files out.
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
		next := "leave --worktree out"
		if t.Cloned {
			next = "clone it yourself, then open it with --workspace DIR"
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

// keep is our repository, with the working tree.
func (p Place) keep(t Tree) git {
	indexes := gitrun.Indexes(t.Objects()) + gitrun.Indexes(filepath.Join(p.Dir, ".git/objects"))
	return git{dir: p.Keep, tree: p.Dir, indexes: indexes}
}

// write writes what both repositories know of the person's: where objects are
// borrowed, which branches, tags and remote branches there are, and where history
// was cut off.
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
		own + "/commondir":                    ".\n", // itself, so that nothing else can be put there
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

// borrowFrom lets our own repository read the objects of both others.
func (p Place) borrowFrom(dir string, t Tree) error {
	text := filepath.Join(dir, ".git/objects") + "\n" + t.Objects() + "\n"
	path := filepath.Join(p.Keep, "objects/info/alternates")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// configure gives the tree the person's name for commits and their remotes, as
// far as no password is in an address. A clone's branch follows the remote's.
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
