// Package machine tells this machine from others of the same name.
package machine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// Label is what this machine is called where several may see it: its name, which others may have as
// well, and what tells it from them, if the system has that. The number that the system gave the
// machine cannot be read from it.
func Label() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	own := number()
	if own == "" {
		return name, nil
	}
	sum := sha256.Sum256([]byte("the label of a machine " + own))
	return fmt.Sprintf("%s/%x", name, sum[:6]), nil
}

// Same reports whether a label names the machine that Label called this one. The name of a machine
// may change. A label without anything else is an older program's.
func Same(label, this string) bool {
	name, ours, numbered := strings.Cut(this, "/")
	_, theirs, other := strings.Cut(label, "/")
	if numbered && other {
		return theirs == ours
	}
	return !other && label == name
}
