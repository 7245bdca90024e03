package stored

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The kernel's keyring keeps a secret that must outlive a process and must not be in a file: the
// identity by which a session's agent knows its proxy (mitm.Proxy.Identity). With the identity, the
// next multiplexer can serve an agent whose multiplexer was killed. A key is named after the
// session's directory below run/. A restart of the machine ends the agent and removes the key.

// keyName returns the name of the key for a session's directory below run/.
func keyName(run string) string { return "ironcurtain-mux:" + filepath.Clean(run) }

// keyRights let later processes of the owner, which have not inherited the key, see, read, replace
// and find it.
const keyRights = 0x3f0f0000

// KeepSecret stores data in the kernel's keyring.
func KeepSecret(run string, data []byte) error {
	id, err := unix.AddKey("user", keyName(run), data, unix.KEY_SPEC_USER_KEYRING)
	if err == nil {
		err = unix.KeyctlSetperm(id, keyRights)
	}
	if err != nil {
		return fmt.Errorf("store a key in the kernel's keyring: %w", err)
	}
	return nil
}

// KeptSecret returns the data that KeepSecret has stored.
func KeptSecret(run string) ([]byte, error) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", keyName(run), 0)
	if err != nil {
		return nil, fmt.Errorf("find a key in the kernel's keyring: %w", err)
	}
	data := make([]byte, 32<<10) // more than the kernel accepts
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, data, 0)
	if err != nil || n > len(data) {
		return nil, fmt.Errorf("read a key in the kernel's keyring: %w", err)
	}
	return data[:n], nil
}

// DropSecret removes the data that KeepSecret has stored, if there is any.
func DropSecret(run string) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", keyName(run), 0)
	if err == nil {
		_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
	}
}
