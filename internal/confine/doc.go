// Package confine locks a process: from then on it can only use what it has open.
//
// A program that reads untrusted text, such as an interpreter, can do harm only by the system
// calls of its process. Lock gives them up for good, for all threads: afterwards the process
// can read and write the descriptors that it was started with, use memory within its limits,
// and end. It cannot open a file, make a connection, start a process, send a signal to another
// process, or make memory executable. A system call that was given up ends the process at
// once. A process of root becomes one of user 1000. This needs neither namespaces nor a
// helper, so no distribution can forbid it.
//
// Lock works on Linux with amd64 and arm64. Elsewhere it fails, and the caller must not
// continue.
package confine

import "errors"

// ErrUnavailable means that processes cannot be locked on this system.
var ErrUnavailable = errors.New("processes cannot be locked on this system")

// Limits are what a locked process may use. Zero means nothing.
type Limits struct {
	Memory  uint64 // bytes of private memory
	File    uint64 // bytes up to which the process may extend an open file
	Seconds uint64 // of processor time; then the kernel ends the process
	Open    uint64 // descriptors
	// Handed lets the process receive descriptors from another process over a socket, close each
	// direction of a connection, and ask for the size of its terminal. Opening a file then fails
	// without ending the process, because libraries try it and work without.
	Handed bool
}

// Unlimited means no limit.
const Unlimited = ^uint64(0)
