//go:build !linux

package preview

import "golang.org/x/sys/unix"

// directoryFlags open a directory to pass through.
const directoryFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
