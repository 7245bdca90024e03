package pathx

import "strings"

// privateProc reports whether a resolved path lies in the directory of a
// process: its memory, environment and open files, and under names that stand
// for another process in every reader.
func privateProc(p string) bool {
	rest, ok := strings.CutPrefix(p, "/proc/")
	if !ok {
		return false
	}
	head, _, _ := strings.Cut(rest, "/")
	switch head {
	case "self", "thread-self", "kcore", "kmem", "net", "mounts", "sysrq-trigger":
		return true
	}
	return head != "" && strings.Trim(head, "0123456789") == ""
}
