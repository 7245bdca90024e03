package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadDir reads the compiled policy and, when there are any, the dynamic
// lists of a directory: compiled-policy.json and dynamic-lists.json. The
// policy is read first, because whoever replaces both writes it last.
func LoadDir(dir string) (*Compiled, *Lists, error) {
	c, err := LoadCompiled(filepath.Join(dir, "compiled-policy.json"))
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "dynamic-lists.json")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	l, err := LoadLists(file)
	if err != nil {
		return nil, nil, err
	}
	return c, l, nil
}
