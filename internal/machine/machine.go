// Package machine distinguishes this machine from others with the same name.
package machine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// Label returns a label for this machine: its name and, if the system has a machine ID, a part of a
// hash of that. The ID cannot be read from the label, which others may see.
func Label() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	own := machineID()
	if own == "" {
		return name, nil
	}
	sum := sha256.Sum256([]byte("the label of a machine " + own))
	return fmt.Sprintf("%s/%x", name, sum[:6]), nil
}

// Same reports whether two labels are of the same machine; this is what Label returns here. Machines
// may be renamed, so hashes count more than names. A label with only a name was made by an older
// program.
func Same(label, this string) bool {
	name, ours, hashed := strings.Cut(this, "/")
	_, theirs, otherHashed := strings.Cut(label, "/")
	if hashed && otherHashed {
		return theirs == ours
	}
	return !otherHashed && label == name
}
