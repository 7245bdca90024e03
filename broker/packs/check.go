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

// check refuses a plan that git could misread, and a repository with objects that are not
// its own.
func (p Plan) check() error {
	if len(p.Tips) == 0 {
		return errors.New("pack the repository: no commit is asked for")
	}
	for _, ids := range [][]string{p.Tips, p.More} {
		for _, id := range ids {
			if !objectID.MatchString(id) || len(id) != len(p.Tips[0]) {
				return fmt.Errorf("pack the repository: %q is no object of it", id)
			}
		}
	}
	if objects := p.objects(); !filepath.IsAbs(objects) || strings.ContainsAny(objects, "\n\r:\"") {
		return fault.New("move the repository", "the path %q cannot be written down for git", objects)
	}
	borrowed := filepath.Join(p.objects(), "info/alternates")
	if _, err := os.Lstat(borrowed); !errors.Is(err, fs.ErrNotExist) {
		return fault.New("make it whole: git repack -a -d && rm "+borrowed, "%s borrows objects from other repositories", p.Repository)
	}
	return nil
}

func (p Plan) objects() string { return filepath.Join(p.Repository, "objects") }

// maxEnds is the size in bytes of the longest list of commits at which history ends.
const maxEnds = 8 << 20

// ends returns the commits at which the repository's own history ends, because it was
// fetched without the rest.
func ends(repository string) ([]string, error) {
	path := filepath.Join(repository, "shallow")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEnds {
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
