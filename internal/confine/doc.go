// Package confine takes a process its power over everything but what it has open.
//
// A program that works on text of a stranger, such as an interpreter, has one way to do
// harm: through the system calls of its process. Lock gives them up for good, for all
// threads: afterwards the process can read and write what it was started with, use memory
// within its limits, and end. It cannot open a file, make a connection, start a process,
// send a signal to another one, or make memory executable. A call that was given up ends
// the process at once. A process of root becomes one of the user 1000. Nothing of this needs
// namespaces or a helper, so no distribution can forbid it.
//
// There is a lock for Linux on amd64 and arm64. Elsewhere Lock fails, and the caller must
// not go on.
package confine

import "errors"

// ErrUnavailable is the error where processes of this system cannot be locked.
var ErrUnavailable = errors.New("processes cannot be locked on this system")

// Limits are what a locked process may use. Zero means none of it.
type Limits struct {
	Memory  uint64 // bytes of its own
	File    uint64 // bytes up to which it may write a file that is open
	Seconds uint64 // of processor time; the kernel ends it then
	Open    uint64 // descriptors
	// Handed lets it take descriptors that another process hands it over a socket, close the
	// two directions of a connection, and ask for the size of its terminal. An attempt to open
	// a file is refused and does not end it, because libraries try that and do without.
	Handed bool
}

// Unlimited is no limit at all.
const Unlimited = ^uint64(0)
