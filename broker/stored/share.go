package stored

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// ShareTree lets both the agent and the tool servers use a workspace of ours. If the caller is not
// root, both run as the same user, and ShareTree does nothing. If the caller is root, the agent is
// another user, and the tool servers run in a sandbox that knows only root and cannot access files
// of others. So ShareTree gives everything in the workspace to the agent, with an access control
// list that admits both, and that new files inherit.
func (i User) ShareTree(ctx context.Context, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	err := i.share(unix.AT_FDCWD, dir, true)
	if err == nil {
		err = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
			return i.share(int(e.Dir.Fd()), e.Name, e.IsDir() || e.IsRegular())
		})
	}
	if err != nil {
		return fmt.Errorf("share %s with the agent: %w", dir, err)
	}
	return nil
}

// share gives one file or directory to the agent and keeps it accessible to root. The agent may
// change files at the same time, so share follows no link and does not block at a pipe.
func (i User) share(in int, name string, opens bool) error {
	err := unix.Fchownat(in, name, i.UID, i.GID, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !opens {
		return err
	}
	fd, err := unix.Openat(in, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // the agent has just replaced it
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		all := accessList(7, 0, i.UID)
		return errors.Join(setAccessList(fd, "system.posix_acl_access", all),
			setAccessList(fd, "system.posix_acl_default", all))
	case unix.S_IFREG:
		perm := uint16(6) | uint16(st.Mode>>6&1)
		return setAccessList(fd, "system.posix_acl_access", accessList(perm, 0, i.UID))
	}
	return nil
}

func setAccessList(fd int, kind string, list []byte) error {
	if err := unix.Fsetxattr(fd, kind, list, 0); err != nil {
		return fmt.Errorf("set an access control list, which the file system must support: %w", err)
	}
	return nil
}

// accessList returns a POSIX access control list in the kernel's format. The owner and the named
// users have the permissions perm, everybody else none.
func accessList(perm uint16, users ...int) []byte {
	const (
		version                   = 2
		owner, user, group        = 0x01, 0x02, 0x04
		mask, other               = 0x10, 0x20
		nobody             uint32 = 0xffffffff
	)
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // writing to a buffer never fails
		}
	}
	put(uint32(version))
	put(uint16(owner), perm, nobody)
	slices.Sort(users)
	for _, id := range users {
		put(uint16(user), perm, uint32(id)) // ids of users are not negative
	}
	put(uint16(group), uint16(0), nobody)
	put(uint16(mask), perm, nobody)
	put(uint16(other), uint16(0), nobody)
	return b.Bytes()
}
