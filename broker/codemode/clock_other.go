//go:build !linux

package codemode

import "time"

// processorTime is a very long time: a process that cannot be watched is ended. Isolates do
// not start on these systems.
func processorTime(int) time.Duration { return 1 << 62 }
