//go:build !linux

package pathx

// onProc reports whether a directory is on a proc file system, which only Linux has.
func onProc(string) bool { return false }
