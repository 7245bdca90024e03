package preview

import "golang.org/x/sys/unix"

// directoryFlags open a directory to pass through, without reading it.
const directoryFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
