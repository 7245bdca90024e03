package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadDir reads compiled-policy.json from a directory, and dynamic-lists.json if it
// exists. It reads the policy first, because a program that replaces both files writes
// the policy last.
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
