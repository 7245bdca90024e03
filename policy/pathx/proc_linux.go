package pathx

import "golang.org/x/sys/unix"

// onProc reports whether a directory is on a proc file system, wherever that is mounted.
func onProc(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
}
