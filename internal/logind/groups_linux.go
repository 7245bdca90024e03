package logind

import (
	"path/filepath"
	"strconv"
)

// GroupsFile returns the path of the file with the control groups of a process; 0 means this
// process.
func GroupsFile(pid int) string {
	process := "self"
	if pid != 0 {
		process = strconv.Itoa(pid)
	}
	return filepath.Join("/proc", process, "cgroup")
}
