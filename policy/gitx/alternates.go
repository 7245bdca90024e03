package gitx

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxAlternates bounds the object stores that a repository borrows from.
const maxAlternates = 64

// alternates lists the object stores from which one borrows, those from which
// they borrow in turn, and the links in them. Not the first, which is the
// repository's own.
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
