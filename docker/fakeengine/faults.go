package fakeengine

import (
	"net/http"
	"slices"
	"time"
)

// Faults say how the engine differs from the real one. The zero value has none.
type Faults struct {
	// RefuseSockets refuses containers that bind a Unix socket or a directory with one,
	// with the message of Docker Desktop.
	RefuseSockets bool
	// DeadSockets binds a copy of such a socket or directory instead: the socket exists,
	// but nobody listens.
	DeadSockets bool
	// EmptyBinds binds an empty directory or file of the engine's own instead, as
	// Colima does for paths that its machine does not share.
	EmptyBinds bool
	// OtherInodes binds a copy instead, made when the container is created. Later changes
	// on either side do not appear on the other.
	OtherInodes bool
	// Unshared says to which sources EmptyBinds and OtherInodes apply; nil: to all.
	Unshared func(source string) bool

	Kernel       string // the kernel's version that the engine reports; empty: the real one
	OS           string // the name of its system, such as "Docker Desktop"; empty: the real one
	Architecture string // of its machine, such as "aarch64"; empty: the real one
	Rootless     bool   // the engine reports that an ordinary user runs it

	// Strip lists what the engine ignores in a request for a container: Network and the
	// other constants.
	Strip []string

	Delay          time.Duration // of the line, both directions together
	BytesPerSecond int           // in each direction, of all connections together; 0: no limit
	Stall          bool          // the line carries nothing, but stays open
	Idle           time.Duration // connections are dropped when idle for so long; 0: never
	Down           bool          // new connections are closed at once

	// Cut returns after which time the next stream is cut; 0, or a nil Cut: never. It
	// is called from any goroutine.
	Cut         func() time.Duration
	Truncate    bool // what a program writes just before the end of its stream is lost
	KeepOpen    bool // streams stay open after their program's end
	NoHalfClose bool // the end of the client's input is not passed on
	NoUpgrade   bool // streams begin with 200 instead of 101
	// Fail says which requests are answered with 500; nil: none. It is called from any
	// goroutine.
	Fail func(*http.Request) bool
}

// The elements of Strip, with what happens then. The first six are isolation, the others limits.
const (
	Network       = "network"    // there are interfaces besides lo
	Capabilities  = "capdrop"    // the usual capabilities stay in the bounding set
	NewPrivileges = "nonewprivs" // programs can gain privileges
	WritableRoot  = "readonly"   // the root can be written to
	Seccomp       = "seccomp"    // system calls are not filtered
	User          = "user"       // programs run as root
	Memory        = "memory"     // memory is not limited
	Processes     = "pids"       // processes are not limited
	Processors    = "cpus"       // processor time is not limited
)

// Isolation lists the hardening flags that Strip can name, without the limits.
func Isolation() []string {
	return []string{Network, Capabilities, NewPrivileges, WritableRoot, Seccomp, User}
}

// unknown returns a name in Strip that does not exist, or an empty string.
func (f Faults) unknown() string {
	known := append(Isolation(), Memory, Processes, Processors)
	for _, name := range f.Strip {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

func (f Faults) strips(name string) bool { return slices.Contains(f.Strip, name) }
