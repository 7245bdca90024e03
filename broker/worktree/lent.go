package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// On an engine that does not see the person's repository, a tree may have only a part of that
// repository's objects (broker/packs). The functions in this file change only the tree's own
// repository. Our repository beside it borrows from the person's, so that Settle sees the whole
// history.

// Shown returns the objects that the tree's references named when it was made: first those of
// branches, then of remotes' branches, then of tags.
func (p Place) Shown() ([]string, error) {
	keep, err := gitx.Open(p.Keep, gitx.Home{})
	if err != nil {
		return nil, fmt.Errorf("examine worktree: %w", err)
	}
	refs, err := keep.Refs("refs/")
	if err != nil {
		return nil, fmt.Errorf("examine worktree: %w", err)
	}
	var shown []string
	seen := make(map[string]bool, len(refs))
	for _, kind := range []string{"refs/heads/", "refs/remotes/", "refs/tags/"} {
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			if id := refs[name]; strings.HasPrefix(name, kind) && !seen[id] {
				shown, seen[id] = append(shown, id), true
			}
		}
	}
	return shown, nil
}

// maxOwn is the size of the largest file in the tree's own repository that change reads, in bytes.
const maxOwn = 16 << 20

var objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Cut makes the history in the tree end at these commits, in addition to where it ends already.
// Nobody may work in the tree meanwhile.
func (p Place) Cut(commits []string) error {
	for _, id := range commits {
		if !objectID.MatchString(id) {
			return fmt.Errorf("cut the worktree's history: %q is not the id of a commit", id)
		}
	}
	err := p.change("shallow", func(text string) string {
		ends := append(strings.Fields(text), commits...)
		slices.Sort(ends)
		return strings.Join(slices.Compact(ends), "\n") + "\n"
	})
	if err != nil {
		return fmt.Errorf("cut the worktree's history: %w", err)
	}
	return nil
}

// Forget removes the references to any of these objects that the tree was made with. Nobody may work
// in the tree meanwhile.
func (p Place) Forget(absent []string) error {
	keep, err := gitx.Open(p.Keep, gitx.Home{})
	if err != nil {
		return fmt.Errorf("examine worktree: %w", err)
	}
	made, err := keep.Refs("refs/")
	if err != nil {
		return fmt.Errorf("examine worktree: %w", err)
	}
	gone := make(map[string]bool, len(absent))
	for _, id := range absent {
		gone[id] = true
	}
	err = p.change("packed-refs", func(text string) string {
		var kept strings.Builder
		leave := false
		for line := range strings.Lines(text) {
			id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !strings.HasPrefix(id, "^") { // with "^", the line belongs to the tag in the line before
				leave = gone[id] && made[name] == id
			}
			if !leave {
				kept.WriteString(line)
			}
		}
		return kept.String()
	})
	if err != nil {
		return fmt.Errorf("remove references from the worktree: %w", err)
	}
	return nil
}

// change edits a file of the tree's own repository. An agent may have put anything in the place of
// the file or of the repository.
func (p Place) change(name string, edit func(text string) string) error {
	const next = "save the files that you need, then remove the session"
	if !isDir(p.Dir + "/.git") {
		return refuse(next, "%s/.git is not a directory", p.Dir)
	}
	own, err := os.OpenRoot(p.Dir + "/.git")
	if err != nil {
		return err
	}
	defer own.Close()
	text := ""
	switch info, err := own.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxOwn:
		return refuse(next, "%s/.git/%s is too large or not a regular file", p.Dir, name)
	default:
		data, err := own.ReadFile(name)
		if err != nil {
			return err
		}
		text = string(data)
	}
	changed := edit(text)
	if strings.TrimSpace(changed) == strings.TrimSpace(text) {
		return nil
	}
	fresh := name + ".lock" // like git
	if err := own.RemoveAll(fresh); err != nil {
		return err
	}
	f, err := own.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, changed)
	if err = errors.Join(err, f.Close()); err == nil {
		err = own.Rename(fresh, name)
	}
	return err
}
