package stored

import (
	"fmt"
	"os"
	"syscall"
)

// User is the user a container runs as: the caller's own, so that files in
// a shared workspace belong to the same person on both sides. A caller who is
// root gets an ordinary user instead; no agent is ever root.
type User struct{ UID, GID int }

// ContainerUser is the user that containers of this process run as.
func ContainerUser() User {
	if os.Geteuid() == 0 {
		return User{1000, 1000}
	}
	return User{os.Geteuid(), os.Getegid()}
}

// String is the form container engines take.
func (i User) String() string { return fmt.Sprintf("%d:%d", i.UID, i.GID) }

// Own gives path to the identity where it is not the caller's already.
func (i User) Own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := os.Lchown(path, i.UID, i.GID); err != nil {
		return fmt.Errorf("give %s to the container's user: %w", path, err)
	}
	return nil
}

// ownIn is own for a path below root, never through a link out of it.
func (i User) ownIn(root *os.Root, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(path, i.UID, i.GID)
}

// giveTo gives a path below root to whom another file belongs.
func giveTo(root *os.Root, path string, like os.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return root.Lchown(path, int(owner.Uid), int(owner.Gid))
}
