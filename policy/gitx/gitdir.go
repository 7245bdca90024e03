package gitx

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// isGitDir reports whether git accepts a directory as a repository. It refuses a directory
// that only looks like one: git would ignore it and use a repository above it.
func isGitDir(dir string) (bool, error) {
	has := func(name string) bool { return exists(filepath.Join(dir, name)) }
	borrows, whole := has("commondir"), has("objects") && has("refs")
	if !has("HEAD") || !borrows && !whole {
		return false, nil
	}
	common := dir
	if borrows {
		var err error
		if common, err = commonDir(dir); err != nil {
			return false, err
		}
	}
	if !validHead(filepath.Join(dir, "HEAD")) || !canEnter(common+"/objects") || !canEnter(common+"/refs") {
		return false, refuse("the directory looks like a git repository, but git would not use it")
	}
	return true, nil
}

// headLine matches the beginning of a repository's HEAD.
var headLine = regexp.MustCompile(`^(?:ref:[ \t\r\n]*refs/|[0-9a-fA-F]{40})`)

// validHead reports whether git accepts a file as the HEAD of a repository.
func validHead(name string) bool {
	if target, err := os.Readlink(name); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	data, err := readFile(name, 4096)
	return err == nil && headLine.Match(data[:min(len(data), 255)])
}

func canEnter(dir string) bool { return unix.Access(dir+"/.", unix.X_OK) == nil }
