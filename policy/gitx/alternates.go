package gitx

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxAlternates is how many alternate object stores a repository may use.
const maxAlternates = 64

// alternates returns the alternate object stores of a repository, their alternates in
// turn, and the links in all of these. objects is the repository's own store, which is not
// in the result.
func (v *View) alternates(objects string) ([]string, error) {
	stores, x := []string{objects}, linkSearch{view: v}
	for i := 0; i < len(stores); i++ {
		data, err := readFile(filepath.Join(stores[i], "info/alternates"), 64<<10)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			if line[0] == '"' {
				return nil, refuse("the repository borrows objects from a place whose name is quoted")
			}
			if store := absolute(stores[i], line); !slices.Contains(stores, store) {
				stores = append(stores, store)
			}
		}
		if len(stores) > maxAlternates {
			return nil, refuse("the repository borrows objects from too many places")
		}
		if i == 0 {
			continue
		}
		for _, dir := range []string{"", "info", "pack"} {
			if _, err := x.list(filepath.Join(stores[i], dir)); err != nil {
				return nil, err
			}
		}
		if err := x.loose(stores[i]); err != nil {
			return nil, err
		}
	}
	return append(stores[1:], x.found...), nil
}
