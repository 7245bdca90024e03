package packs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

var objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// check refuses a plan that git could misread, and a repository that borrows objects.
func (p Plan) check() error {
	if len(p.Tips) == 0 {
		return errors.New("pack the repository: no commit was given")
	}
	for _, ids := range [][]string{p.Tips, p.More} {
		for _, id := range ids {
			if !objectID.MatchString(id) || len(id) != len(p.Tips[0]) {
				return fmt.Errorf("pack the repository: %q is not the name of one of its objects", id)
			}
		}
	}
	if objects := p.objects(); !filepath.IsAbs(objects) || strings.ContainsAny(objects, "\n\r:\"") {
		return fault.New("move the repository", "git cannot borrow objects by the path %q", objects)
	}
	borrowed := filepath.Join(p.objects(), "info/alternates")
	if _, err := os.Lstat(borrowed); !errors.Is(err, fs.ErrNotExist) {
		return fault.New("make it whole: git repack -a -d && rm "+borrowed, "%s borrows objects from other repositories", p.Repository)
	}
	return nil
}

func (p Plan) objects() string { return filepath.Join(p.Repository, "objects") }

// maxShallow is the largest size of git's file "shallow", in bytes.
const maxShallow = 8 << 20

// readShallow returns the commits at which the repository's own history ends, because it was
// fetched without the rest. They are sorted.
func readShallow(repository string) ([]string, error) {
	path := filepath.Join(repository, "shallow")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxShallow {
		return nil, fault.New("look at it, then remove it", "%s is not a list of commits", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(string(data))
	for _, id := range ids {
		if !objectID.MatchString(id) {
			return nil, fault.New("look at it, then remove it", "%s is not a list of commits", path)
		}
	}
	return union(ids, nil), nil
}
