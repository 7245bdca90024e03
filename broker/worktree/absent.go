package worktree

import (
	"context"
	"fmt"
	"strings"
)

// Absent lists the parts of a tree that the person's repository does not contain. To fetch them
// would run programs, or reach hosts, that the repository names.
type Absent struct {
	Submodules []string // their paths; each is an empty directory
	Large      []string // files of Git LFS; each has a few lines that stand for the content
}

// Absent returns what is absent from a tree that has just been made. It must not be called after an
// agent has worked in the tree, because the agent could make it return anything.
func (p Place) Absent(ctx context.Context) (Absent, error) {
	keep := git{dir: p.Keep, tree: p.Dir}
	var a Absent
	modules := &entries{each: func(entry []byte) { // "160000 id stage\tpath"
		if head, path, _ := strings.Cut(string(entry), "\t"); strings.HasPrefix(head, "160000 ") {
			a.Submodules = append(a.Submodules, path)
		}
	}}
	large := &entries{each: func(path []byte) { a.Large = append(a.Large, string(path)) }}
	err := keep.pipe(ctx, nil, modules, "ls-files", "--stage", "-z")
	if err == nil {
		err = keep.pipe(ctx, nil, large, "ls-files", "-z", "--", ":(attr:filter=lfs)")
	}
	if err != nil {
		return Absent{}, fmt.Errorf("examine worktree: %w", err)
	}
	return a, nil
}

// String describes what is absent, such as "submodule vendor/x and 3 files of Git LFS", or
// returns "".
func (a Absent) String() string {
	var parts []string
	for _, one := range []struct {
		paths          []string
		single, plural string
	}{
		{a.Submodules, "submodule %s", "%d submodules"},
		{a.Large, "%s of Git LFS", "%d files of Git LFS"},
	} {
		switch n := len(one.paths); {
		case n == 1:
			parts = append(parts, fmt.Sprintf(one.single, one.paths[0]))
		case n > 1:
			parts = append(parts, fmt.Sprintf(one.plural, n))
		}
	}
	return strings.Join(parts, " and ")
}
