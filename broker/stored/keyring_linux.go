package stored

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The kernel's keyring keeps a secret that must outlive a process and must not be in a
// file: the identity by which a session's agent knows its proxy (mitm.Proxy.Identity). With
// it the next multiplexer can serve an agent whose multiplexer was killed. A key is named
// by the session's directory below run/. Like the agent, it is gone after a restart of the
// machine.

// keyName names the key of the session with that directory.
func keyName(run string) string { return "ironcurtain-mux:" + filepath.Clean(run) }

// keyRights let the owner's later processes, which do not possess the key by
// inheritance, see, read, replace and find it.
const keyRights = 0x3f0f0000

// KeepSecret leaves data with the kernel.
func KeepSecret(run string, data []byte) error {
	id, err := unix.AddKey("user", keyName(run), data, unix.KEY_SPEC_USER_KEYRING)
	if err == nil {
		err = unix.KeyctlSetperm(id, keyRights)
	}
	if err != nil {
		return fmt.Errorf("leave a key with the kernel: %w", err)
	}
	return nil
}

// KeptSecret returns what was left with the kernel.
func KeptSecret(run string) ([]byte, error) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", keyName(run), 0)
	if err != nil {
		return nil, fmt.Errorf("ask the kernel for a key: %w", err)
	}
	data := make([]byte, 32<<10) // more than the kernel takes
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, data, 0)
	if err != nil || n > len(data) {
		return nil, fmt.Errorf("read the key that the kernel has: %w", err)
	}
	return data[:n], nil
}

// DropSecret takes back what was left with the kernel, if there is something.
func DropSecret(run string) {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", keyName(run), 0)
	if err == nil {
		_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
	}
}
