//go:build !linux

package pathx

// onProc reports whether a directory belongs to a proc file system; no other
// system has one.
func onProc(string) bool { return false }
