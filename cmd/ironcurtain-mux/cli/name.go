package cli

import (
	"regexp"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// CheckName returns an error unless a client's name can be written unchanged in a line of
// authorized_keys, in a record and on a screen.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fault.New("use a name such as phone or build-bot", "%q is not a valid name: a name has 1 to 32 letters, digits, '-', '_' and '.', and begins with a letter", name)
	}
	return nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,31}$`)
