package main

import "golang.org/x/sys/unix"

// hideMemory keeps other processes of this user from reading this one's memory, environment
// and descriptors, and the system from writing its memory into a core file. It does not hide
// programs that this process starts.
func hideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
