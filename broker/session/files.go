package session

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// FileChange is a file of the workspace that changed during a turn, no matter who changed it.
type FileChange struct {
	Path   string `json:"path"`   // relative to the workspace
	Change string `json:"change"` // "added", "changed" or "removed"
}

// Limits of comparing a workspace before and after a turn.
const (
	maxFiles        = 200_000
	maxFilesChanged = 1000
	filesTime       = 10 * time.Second
)

// fileState differs whenever a file's content does: no program can set changed, its ctime.
type fileState struct {
	inode   uint64
	size    int64
	changed unix.Timespec
}

// files returns the state of every file of the workspace outside of .git directories. It runs on the
// host and follows no links.
func (s *Session) files(ctx context.Context) (map[string]fileState, error) {
	ctx, cancel := context.WithTimeout(ctx, filesTime)
	defer cancel()
	found := map[string]fileState{}
	err := dirtree.Walk(ctx, s.fixed.Workspace, func(e *dirtree.Entry) error {
		switch {
		case e.IsDir() && e.Name == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		case len(found) == maxFiles:
			return fmt.Errorf("there are more than %d files", maxFiles)
		}
		found[e.Path()] = fileState{e.Stat.Ino, e.Stat.Size, e.Stat.Ctim}
		return nil
	})
	return found, err
}

// filesChanged compares two states of a workspace. It returns at most maxFilesChanged files, sorted;
// more counts the rest.
func filesChanged(before, after map[string]fileState) (changes []FileChange, more int) {
	changes = []FileChange{}
	for path, now := range after {
		switch then, was := before[path]; {
		case !was:
			changes = append(changes, FileChange{path, "added"})
		case then != now:
			changes = append(changes, FileChange{path, "changed"})
		}
	}
	for path := range before {
		if _, is := after[path]; !is {
			changes = append(changes, FileChange{path, "removed"})
		}
	}
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	more = max(0, len(changes)-maxFilesChanged)
	return changes[:len(changes)-more], more
}

// compareFiles reads the state of the workspace. The function that it returns reads it again and sets
// the changed files in a turn.
func (s *Session) compareFiles(ctx context.Context) (note func(*Turn)) {
	before, err := s.files(ctx)
	return func(t *Turn) {
		var after map[string]fileState
		if err == nil {
			after, err = s.files(context.WithoutCancel(ctx))
		}
		if err != nil {
			t.FilesMissed = describe(err)
			return
		}
		more := 0
		if t.FilesChanged, more = filesChanged(before, after); more > 0 {
			t.FilesMissed = fmt.Sprintf("%d more files changed", more)
		}
	}
}
