//go:build !linux

package stage

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew is not needed where servers cannot be given a stage.
func renameNew(*os.Root, string, *os.Root, string) error { return unix.ENOTSUP }
