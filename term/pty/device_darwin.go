package pty

import (
	"fmt"
	"os"
	"syscall"
)

// deviceOf returns the number of a terminal's device.
func deviceOf(f *os.File) (device uint64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s has no device", f.Name())
	}
	return uint64(stat.Rdev), nil
}
