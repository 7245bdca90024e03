// Package beside finds the programs that are installed in the directory of the running one,
// such as those whose libraries would make it too large.
package beside

import (
	"fmt"
	"os"
	"path/filepath"
)

// Find returns the path of a program that lies beside the running one. Links to the running
// program are followed.
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
