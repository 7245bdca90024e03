package obeyed

import (
	"context"
	"path"
	"path/filepath"
	"strings"
)

// Names are the paths below a directory that git would run or obey because of the configuration in
// force there, whether the files exist or not.
type Names struct {
	why    map[string]string // by path, in lower case
	hooks  map[string]bool   // the paths of directories of hooks
	Missed string            // why there may be more paths, or ""
}

// Name finds the Names of a directory. It looks only at the repository whose work tree the directory
// is, and at the git configuration outside of the directory.
func Name(ctx context.Context, dir, userHome string) (Names, error) {
	n := Names{why: map[string]string{}, hooks: map[string]bool{}}
	found, err := look(ctx, dir, userHome, quick, func(l *looker) {
		if l.isDir(".git") {
			l.repository(".git", ".")
		}
	}, &n)
	n.Missed = found.Missed
	return n, err
}

// Why says what git would do with a file at a path. It returns "" if git would neither run nor obey
// the file.
func (n Names) Why(name string) string {
	name = strings.ToLower(name)
	if why := n.why[name]; why != "" {
		return why
	}
	if dir := path.Dir(name); n.hooks[dir] && !strings.HasSuffix(name, ".sample") {
		return hookWhy
	}
	return ""
}

// add adds a path, and if it is a link its target. why is "" for a directory of hooks.
func (n *Names) add(l *looker, name, why string) {
	all := []string{name}
	if target, err := filepath.EvalSymlinks(filepath.Join(l.base, name)); err == nil {
		if to, ok := l.inside(target); ok {
			all = append(all, to)
		}
	}
	for _, one := range all {
		if one = strings.ToLower(one); why == "" {
			n.hooks[one] = true
		} else {
			n.why[one] = why
		}
	}
}
