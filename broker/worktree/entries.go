package worktree

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// Bounds of the files of a commit, which git holds in memory at once when it writes or
// compares them: the largest repositories of public projects have fewer.
const (
	maxEntries = 500_000
	maxEntry   = 4096 + 128 // bytes of what git says of one: the longest path there can be, and what it is
	maxPaths   = 64 << 20   // bytes of all of it
)

// entries passes on the entries that git lists, each with a NUL at its end, up to the
// bounds.
type entries struct {
	each        func(entry []byte) // which it must not keep; may be nil
	rest        []byte
	count, size int
}

func (e *entries) Write(p []byte) (int, error) {
	e.size += len(p)
	for data := p; ; {
		head, tail, whole := bytes.Cut(data, []byte{0})
		if e.rest = append(e.rest, head...); len(e.rest) > maxEntry {
			return 0, &gitrun.Limit{What: "a commit has longer paths than there can be"}
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

// fits refuses a commit with more files and directories than git has memory for. A few
// trees that contain each other many times can stand for billions of files.
func (g git) fits(ctx context.Context, commit string) error {
	return g.pipe(ctx, nil, &entries{}, "ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit)
}
