package stored

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// MaxName is the length of the longest name of a tab, in bytes.
const MaxName = 256

// WriteName stores the name that a person has given a session's tab; "" removes it. It does nothing
// if the session has no directory.
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

// ReadName returns the name that WriteName has stored, or "".
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
