package codemode

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is the processor time that another process of this user has used, or a very
// long time when it cannot be read: a process that cannot be watched is ended.
func processorTime(pid int) time.Duration {
	const processClock = 2 // the kernel's CPUCLOCK_SCHED
	var used unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|processClock), &used) != nil {
		return 1 << 62
	}
	return time.Duration(used.Nano())
}
