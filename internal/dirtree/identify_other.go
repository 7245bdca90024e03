//go:build !linux

package dirtree

import "golang.org/x/sys/unix"

// passing are the flags for opening a directory on the way to a file.
const passing = unix.O_RDONLY

// Identify returns zeros on these systems: containers run in a virtual machine, where devices and
// inodes differ.
func Identify(string) (device, inode uint64, err error) { return 0, 0, nil }
