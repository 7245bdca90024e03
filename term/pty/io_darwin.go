package pty

import "golang.org/x/sys/unix"

// readNow reads from a descriptor that does not block.
func readNow(fd int, b []byte) (int, error) { return unix.Read(fd, b) }

// writeNow writes to a descriptor that does not block.
func writeNow(fd int, b []byte) (int, error) { return unix.Write(fd, b) }
