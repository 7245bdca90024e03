//go:build !linux

package stored

import "errors"

// Other systems have no keyring that outlives a process. An agent whose multiplexer was killed is
// resumed in a new container instead.

var errNoKeyring = errors.New("this system has no keyring that outlives a process")

// KeepSecret fails.
func KeepSecret(string, []byte) error { return errNoKeyring }

// KeptSecret fails.
func KeptSecret(string) ([]byte, error) { return nil, errNoKeyring }

// DropSecret does nothing.
func DropSecret(string) {}
