//go:build !linux

package dirtree

// Identify does not tell anything: containers run in a virtual machine here, which
// numbers files in its own way.
func Identify(string) (device, inode uint64, err error) { return 0, 0, nil }
