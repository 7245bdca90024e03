package doctor

import "golang.org/x/sys/unix"

// clockKept reports whether a time service keeps the clock right, as far as the kernel knows.
func clockKept() bool {
	state, err := unix.Adjtimex(&unix.Timex{})
	return err != nil || state != unix.TIME_ERROR
}
