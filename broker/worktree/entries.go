package worktree

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Bounds on the files of a commit, which git keeps in memory at once when it writes or compares
// them. The largest repositories of public projects have fewer.
const (
	maxEntries = 500_000
	maxEntry   = 4096 + 128 // bytes of git's line about one file: the longest possible path, and more
	maxPaths   = 64 << 20   // bytes of all lines
)

// entries calls each for the entries that git lists with a NUL at their ends. It fails beyond the
// bounds.
type entries struct {
	each        func(entry []byte) // must not keep entry; may be nil
	rest        []byte
	count, size int
}

func (e *entries) Write(p []byte) (int, error) {
	e.size += len(p)
	for data := p; ; {
		head, tail, whole := bytes.Cut(data, []byte{0})
		if e.rest = append(e.rest, head...); len(e.rest) > maxEntry {
			return 0, &gitrun.Limit{What: "a commit has impossibly long paths"}
		}
		if !whole {
			break
		}
		if e.each != nil {
			e.each(e.rest)
		}
		e.rest, data = e.rest[:0], tail
		e.count++
	}
	if e.count > maxEntries || e.size > maxPaths {
		return 0, &gitrun.Limit{What: fmt.Sprintf("a commit has more than %d files, or %d MB of paths", maxEntries, maxPaths>>20)}
	}
	return len(p), nil
}

// fits refuses a commit with more files and directories than git has memory for. A few trees that
// contain each other many times can make billions of files.
func (g git) fits(ctx context.Context, commit string) error {
	return g.pipe(ctx, nil, &entries{}, "ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit)
}
