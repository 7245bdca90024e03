package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// shareTree makes a workspace of ours usable from both sides. An ordinary
// caller is the same user on both and nothing is to be done. When root calls, the
// agent is somebody else, and the tool servers, in a sandbox that knows no other
// user than root, have no power over other people's files. So everything in the
// workspace, now and later, is given to the agent with an access control list that
// lets both in.
func (i identity) shareTree(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("share %s with the agent: %w", dir, err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return i.share(root, path, entry)
	})
	if err != nil {
		return fmt.Errorf("share %s with the agent: %w", dir, err)
	}
	return nil
}

// share gives one file or directory to the agent and keeps it open to root. An
// agent may be at work in the same place: what it has replaced meanwhile is not
// followed, and a pipe is not waited for.
func (i identity) share(root *os.Root, path string, entry fs.DirEntry) error {
	err := root.Lchown(path, i.uid, i.gid)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
		return err
	}
	f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil // it was there a moment ago; the agent has changed it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		all := accessList(7, 0, i.uid)
		return errors.Join(setAccessList(f, "system.posix_acl_access", all),
			setAccessList(f, "system.posix_acl_default", all))
	case info.Mode().IsRegular():
		perm := uint16(6) | uint16(info.Mode().Perm()>>6&1)
		return setAccessList(f, "system.posix_acl_access", accessList(perm, 0, i.uid))
	}
	return nil
}

func setAccessList(f *os.File, kind string, list []byte) error {
	if err := unix.Fsetxattr(int(f.Fd()), kind, list, 0); err != nil {
		return fmt.Errorf("set access of %s: %w (the file system must support access control lists)", f.Name(), err)
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
