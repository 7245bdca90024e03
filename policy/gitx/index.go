package gitx

import (
	"path/filepath"
)

// Bounds of indexes, in bytes. They are read as streams, so these are bounds of time.
const (
	maxIndex   = 256 << 20
	maxIndexes = 2 * maxIndex // of all passes through them for one call
)

// Bounds of what is kept of an index: in version 4 a few bytes can stand for a long name.
const (
	maxIndexName  = 4096 // as long as a path can be
	maxGitlinks   = 10_000
	maxLinkedSize = 4 << 20 // bytes of their names
)

// gitlinkMode is the mode of an entry of the index that stands for a commit of
// another repository, whose work tree lies at the entry's place.
const gitlinkMode = 0o160000

// gitlinks returns the places in the work tree where the index has other
// repositories. Git asks those for their state, whether or not anything calls
// them submodules.
func (r *Repo) gitlinks() ([]string, error) { return r.walkIndex(nil) }

// Tracks reports whether the index has a file that is chosen by its name in the work
// tree.
func (r *Repo) Tracks(chosen func(name string) bool) (bool, error) {
	found := false
	_, err := r.walkIndex(func(name []byte) { found = found || chosen(string(name)) })
	return found, err
}

// walkIndex goes through the index, shows each name to each, which may be nil, and
// returns the places of other repositories.
func (r *Repo) walkIndex(each func(name []byte)) ([]string, error) {
	name := filepath.Join(r.GitDir, "index")
	if isDir(name) {
		return nil, nil // git fails over it before it looks anywhere
	}
	hash := 20
	if r.own.last("extensions", "", "objectformat") == "sha256" {
		hash = 32
	}
	x := index{view: r.view, hash: hash, each: each}
	if found, err := x.read(name); err != nil || !found || x.shared == "" {
		return x.links, err
	}
	base := index{view: r.view, hash: hash, each: each, links: x.links}
	found, err := base.read(filepath.Join(r.GitDir, "sharedindex."+x.shared))
	if err == nil && !found {
		err = errIndex
	}
	return base.links, err
}

var errIndex = refuse("the index of the repository is malformed")
