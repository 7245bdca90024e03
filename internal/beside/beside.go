// Package beside finds programs that are installed in the directory of the running one. They
// are separate programs because their libraries would make it too large, for example.
package beside

import (
	"fmt"
	"os"
	"path/filepath"
)

// Find returns the path of a program in the directory of the running one. It follows links to
// the running program.
func Find(name string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not installed beside ironcurtain-mux", name)
	}
	return path, nil
}
