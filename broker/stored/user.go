package stored

import (
	"fmt"
	"os"
	"syscall"
)

// User is the user that a container runs as. It is the caller, so that files in a shared workspace
// belong to the same user inside and outside. If the caller is root, it is an ordinary user instead,
// because no agent is ever root.
type User struct{ UID, GID int }

// ContainerUser returns the user that containers of this process run as.
func ContainerUser() User {
	if os.Geteuid() == 0 {
		return User{1000, 1000}
	}
	return User{os.Geteuid(), os.Getegid()}
}

// String returns the user as container engines write it: UID:GID.
func (i User) String() string { return fmt.Sprintf("%d:%d", i.UID, i.GID) }

// Own gives path to the user, if the caller is root. Otherwise the path is the user's already.
func (i User) Own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := os.Lchown(path, i.UID, i.GID); err != nil {
		return fmt.Errorf("give %s to the container's user: %w", path, err)
	}
	return nil
}

// ownIn is like Own for a path below root. It does not follow a link out of root.
func (i User) ownIn(root *os.Root, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(path, i.UID, i.GID)
}

// giveTo gives a path below root to the owner of another file.
func giveTo(root *os.Root, path string, like os.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return root.Lchown(path, int(owner.Uid), int(owner.Gid))
}
