//go:build !linux

package stored

import "errors"

// Other kernels keep no keys for programs that were killed: an agent of theirs
// is resumed in a new container instead.

var errNoKeyring = errors.New("this system has no keyring for programs that are gone")

func KeepSecret(string, []byte) error   { return errNoKeyring }
func KeptSecret(string) ([]byte, error) { return nil, errNoKeyring }
func DropSecret(string)                 {}
