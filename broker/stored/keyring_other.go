//go:build !linux

package stored

import "errors"

// Other kernels keep no keys for programs that were killed: an agent of theirs
// is resumed in a new container instead.

var errNoKeyring = errors.New("this system has no keyring for programs that are gone")

// KeepSecret leaves data with the kernel.
func KeepSecret(string, []byte) error { return errNoKeyring }

// KeptSecret returns what was left with the kernel.
func KeptSecret(string) ([]byte, error) { return nil, errNoKeyring }

// DropSecret takes back what was left with the kernel, if there is something.
func DropSecret(string) {}
