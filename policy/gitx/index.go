package gitx

import (
	"path/filepath"
)

// Bounds on indexes, in bytes. Indexes are read as streams, so these bound the time and
// not the memory.
const (
	maxIndex   = 256 << 20
	maxIndexes = 2 * maxIndex // of all indexes read for one call
)

// Bounds on what is kept of an index. In version 4 a few bytes can encode a long name.
const (
	maxIndexName  = 4096 // the longest path
	maxGitlinks   = 10_000
	maxLinkedSize = 4 << 20 // bytes of the gitlinks' names
)

// gitlinkMode is the mode of an index entry for a commit of another repository. The work
// tree of that repository lies at the entry's path.
const gitlinkMode = 0o160000

// gitlinks returns the paths in the work tree at which the index has other repositories.
// Git reads the state of these even if they are not configured as submodules.
func (r *Repo) gitlinks() ([]string, error) { return r.walkIndex(nil) }

// Tracks reports whether the index has a file for which chosen returns true. chosen gets
// the file's name relative to the work tree.
func (r *Repo) Tracks(chosen func(name string) bool) (bool, error) {
	found := false
	_, err := r.walkIndex(func(name []byte) { found = found || chosen(string(name)) })
	return found, err
}

// walkIndex reads the index, calls each with every name unless each is nil, and returns
// the paths of other repositories.
func (r *Repo) walkIndex(each func(name []byte)) ([]string, error) {
	name := filepath.Join(r.GitDir, "index")
	if isDir(name) {
		return nil, nil // git fails with an error before it reads anything else
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
