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

// ShareTree makes a workspace of ours usable from both sides. An ordinary
// caller is the same user on both and nothing is to be done. When root calls, the
// agent is somebody else, and the tool servers, in a sandbox that knows no other
// user than root, have no power over other people's files. So everything in the
// workspace, now and later, is given to the agent with an access control list that
// lets both in.
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

// Share gives one file or directory to the agent and keeps it open to root. An
// agent may be at work in the same place: what it has replaced meanwhile is not
// followed, and a pipe is not waited for.
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
		return nil //nolint:nilerr // it was there a moment ago; the agent has changed it
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
		return fmt.Errorf("set access: %w (the file system must support access control lists)", err)
	}
	return nil
}

// accessList is a POSIX access control list in the kernel's format: the owner
// and the named users may do what perm says, everybody else nothing.
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
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
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
