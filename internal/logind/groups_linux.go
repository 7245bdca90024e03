package logind

import (
	"path/filepath"
	"strconv"
)

// GroupsFile is the file that tells the groups of a process; 0 is this one.
func GroupsFile(pid int) string {
	process := "self"
	if pid != 0 {
		process = strconv.Itoa(pid)
	}
	return filepath.Join("/proc", process, "cgroup")
}
