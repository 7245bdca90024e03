package broker

import (
	"fmt"
	"os"
	"syscall"
)

// identity is the user a container runs as: the caller's own, so that files in
// a shared workspace belong to the same person on both sides. A caller who is
// root gets an ordinary user instead; no agent is ever root.
type identity struct{ uid, gid int }

func callerIdentity() identity {
	if os.Geteuid() == 0 {
		return identity{1000, 1000}
	}
	return identity{os.Geteuid(), os.Getegid()}
}

// String is the form container engines take.
func (i identity) String() string { return fmt.Sprintf("%d:%d", i.uid, i.gid) }

// own gives path to the identity where it is not the caller's already.
func (i identity) own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := os.Lchown(path, i.uid, i.gid); err != nil {
		return fmt.Errorf("give %s to the container's user: %w", path, err)
	}
	return nil
}

// ownIn is own for a path below root, never through a link out of it.
func (i identity) ownIn(root *os.Root, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(path, i.uid, i.gid)
}

// giveTo gives a path below root to whom another file belongs.
func giveTo(root *os.Root, path string, like os.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return root.Lchown(path, int(owner.Uid), int(owner.Gid))
}
