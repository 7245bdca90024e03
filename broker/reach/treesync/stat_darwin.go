package treesync

import "syscall"

// identify takes from what stat says which file it is, and when it changed last.
func identify(s *syscall.Stat_t) (identity, stamp) {
	return identity{uint64(s.Dev), s.Ino},
		stamp{size: s.Size, modified: s.Mtimespec.Nano(), changed: s.Ctimespec.Nano()}
}
