package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitrun"
)

// Bounds of the files of a commit, which git holds in memory at once when it writes or
// compares them: the largest repositories of public projects have fewer.
const (
	maxEntries = 500_000
	maxEntry   = 64 << 10 // bytes of what git says of one
	maxPaths   = 64 << 20 // bytes of all of it
)

// entries passes on what git lists, each ending in a NUL, up to the bounds.
type entries struct {
	each        func(entry []byte)
	rest        []byte
	count, size int
}

func (e *entries) Write(p []byte) (int, error) {
	e.size += len(p)
	for data := p; ; {
		head, tail, whole := bytes.Cut(data, []byte{0})
		if !whole {
			e.rest = append(e.rest, head...)
			break
		}
		if e.each != nil {
			e.each(append(e.rest, head...))
		}
		e.rest, data = e.rest[:0], tail
		e.count++
	}
	if e.count > maxEntries || e.size > maxPaths || len(e.rest) > maxEntry {
		return 0, &gitrun.Limit{What: fmt.Sprintf("more than %d files, or %d MB of paths, in a commit", maxEntries, maxPaths>>20)}
	}
	return len(p), nil
}

var _ io.Writer = (*entries)(nil)

// fits refuses a commit with more files and directories than git is given memory for.
// A few trees, each many times in another, can stand for billions of them.
func (g git) fits(ctx context.Context, commit string) error {
	return g.pipe(ctx, nil, &entries{}, "ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit)
}
