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

// FileChange is a file of the workspace that changed during a turn, whoever changed it.
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

// fileState is what changes with a file's content. No program can set the time of the
// change.
type fileState struct {
	inode   uint64
	size    int64
	changed unix.Timespec
}

// files returns the state of every file of the workspace outside of .git directories. The
// host looks itself, and follows no link.
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

// filesChanged compares two states of a workspace. The list is sorted and has at most
// maxFilesChanged files; more says how many are left out.
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

// compareFiles looks at the workspace and returns a function that looks again and notes in a
// turn what changed in between.
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
