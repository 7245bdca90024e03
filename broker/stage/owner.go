package stage

import (
	"os"
	"syscall"
)

// account is the owner of a file.
type account struct{ uid, gid int }

func owner(info os.FileInfo) (account, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return account{}, false
	}
	return account{int(s.Uid), int(s.Gid)}, true
}

// device returns the number of a file's file system.
func device(info os.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(stat.Dev) // it has another type on macOS
}
