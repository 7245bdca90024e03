package treesync

import "syscall"

// identify takes from what stat says which file it is, and when it changed last.
func identify(s *syscall.Stat_t) (identity, stamp) {
	return identity{uint64(s.Dev), s.Ino}, //nolint:unconvert // its type differs between systems
		stamp{size: s.Size, modified: s.Mtim.Nano(), changed: s.Ctim.Nano()}
}
