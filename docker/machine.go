package docker

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// ThisMachine is what LabelHost calls this machine: its name, which others on the same engine may have as
// well, and what tells it from them, if the system has that. The number that the system gave the
// machine is itself not told to an engine.
func ThisMachine() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	number := machineNumber()
	if number == "" {
		return name, nil
	}
	sum := sha256.Sum256([]byte("ironcurtain-mux " + number))
	return fmt.Sprintf("%s/%x", name, sum[:6]), nil
}

// SameMachine reports whether a label names the machine that this one was called by ThisMachine. The
// name of one may change. A label without anything else is an older program's.
func SameMachine(label, this string) bool {
	name, number, numbered := strings.Cut(this, "/")
	_, theirs, other := strings.Cut(label, "/")
	if numbered && other {
		return theirs == number
	}
	return !other && label == name
}
