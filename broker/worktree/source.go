package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Source is a person's repository, from which trees are made.
type Source struct {
	Top    string // the working tree, or the URL of a clone
	Common string // the directory of objects and branches
	Head   string // the current commit

	repo   *gitx.Repo
	cloned bool
}

// ErrNoRepository means that a directory is not the top of a repository.
var ErrNoRepository = errors.New("not the top directory of a git repository")

// Open finds the repository whose top directory is dir, a real path, without running git. An agent
// may have written to it in an earlier session, and another agent will see its objects. So Open
// refuses a repository with links or files that lead to another one. The configuration in userHome
// names the author of commits.
func Open(ctx context.Context, dir, userHome string) (Source, error) {
	const next = "give the top directory of a git repository with --workspace, or leave out --worktree"
	gitDir, common, err := gitDirs(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Source{}, refuse(next, "%s: %w", dir, ErrNoRepository)
	} else if err != nil {
		return Source{}, refuse(next, "%s: %w", dir, err)
	}
	objects := filepath.Join(common, "objects")
	if !isDir(objects) {
		return Source{}, refuse(next, "%s is not a directory", objects)
	}
	if _, err := os.Lstat(filepath.Join(objects, "info/alternates")); !errors.Is(err, fs.ErrNotExist) {
		return Source{}, refuse("copy the borrowed objects: git repack -a -d && rm "+filepath.Join(objects, "info/alternates"),
			"%s borrows objects from other repositories", dir)
	}
	if strings.ContainsAny(objects, "\n\r:\"") {
		return Source{}, refuse("move the repository", "the path %q has a line break, a colon or a quote, which git's files cannot contain", objects)
	}
	for _, part := range []string{gitDir, common} {
		if err := checkPlain(ctx, part, "find out what it is, then remove it"); err != nil {
			return Source{}, err
		}
	}
	repo, err := gitx.Open(dir, gitx.Home{Dir: userHome, System: "/etc/gitconfig"})
	if err != nil {
		return Source{}, refuse(next, "%s: %w", dir, err)
	}
	if repo.GitDir != gitDir || filepath.Clean(repo.CommonDir) != common {
		return Source{}, refuse(next, "%s: .git and the repository that git finds are not the same", dir)
	}
	head, err := repo.Ref("HEAD")
	if errors.Is(err, gitx.ErrNoRef) {
		return Source{}, refuse("make a first commit", "%s has no commit yet", dir)
	} else if err != nil {
		return Source{}, refuse(next, "%s: %w", dir, err)
	}
	return Source{Top: dir, Common: common, Head: head, repo: repo}, nil
}

// gitDirs finds a repository's own directory, and the directory that it shares with its linked
// worktrees. A linked worktree must be known to the repository that it names.
func gitDirs(dir string) (gitDir, common string, err error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotGit)
	switch {
	case err != nil:
		return "", "", err
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(dotGit, "commondir")); !errors.Is(err, fs.ErrNotExist) {
			return "", "", errors.New(".git/commondir makes git use another repository")
		}
		return dotGit, dotGit, nil
	case !info.Mode().IsRegular():
		return "", "", errors.New(".git is neither a directory nor a file")
	}
	text, err := firstLine(dotGit)
	if err != nil {
		return "", "", err
	}
	gitDir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok || !filepath.IsAbs(gitDir) {
		return "", "", errors.New("the .git file does not name a repository")
	}
	common = filepath.Dir(filepath.Dir(gitDir))
	back, err := firstLine(filepath.Join(gitDir, "gitdir"))
	if err != nil || back != dotGit || filepath.Base(filepath.Dir(gitDir)) != "worktrees" {
		return "", "", errors.New("the .git file names a repository that does not know this worktree")
	}
	if resolved, err := filepath.EvalSymlinks(gitDir); err != nil || resolved != gitDir {
		return "", "", errors.New("the .git file names a repository behind a link")
	}
	if shared, err := firstLine(filepath.Join(gitDir, "commondir")); err != nil || filepath.Join(gitDir, shared) != common {
		return "", "", errors.New("the worktree's commondir names another directory than its repository's")
	}
	return gitDir, common, nil
}

// firstLine reads a small file that has one line.
func firstLine(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > 4096 {
		return "", errors.New(path + " is not a small file")
	}
	data, err := os.ReadFile(path)
	return strings.TrimRight(string(data), "\r\n"), err
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Objects returns the directory of objects that a tree of the source borrows.
func (s Source) Objects() string { return filepath.Join(s.Common, "objects") }
