package stored

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// MaxName is how many bytes the name of a tab has at most.
const MaxName = 256

// WriteName keeps the name that a person has given a session's tab; empty: none. A session without
// a directory keeps none.
func WriteName(l Layout, name string) error {
	err := os.Remove(l.Name())
	if name != "" {
		err = wholefile.Write(l.Name(), []byte(name), 0o600)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadName returns the name that WriteName has kept; empty: none.
func ReadName(l Layout) string {
	if info, err := os.Lstat(l.Name()); err != nil || !info.Mode().IsRegular() || info.Size() > MaxName {
		return ""
	}
	name, err := os.ReadFile(l.Name())
	if err != nil {
		return ""
	}
	return string(name)
}
