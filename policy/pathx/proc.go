package pathx

import "strings"

// privateProc reports whether a resolved path is private to a process or to the kernel in
// /proc: memory, environment and open files, or a name such as "self" that is a different
// process for every reader.
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
