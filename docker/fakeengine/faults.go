package fakeengine

import (
	"net/http"
	"slices"
	"time"
)

// Faults say how the engine differs from the real one. The zero value has none.
type Faults struct {
	// RefuseSockets refuses containers that bind a Unix socket or a directory that
	// holds one, in the words of Docker Desktop.
	RefuseSockets bool
	// DeadSockets binds a copy of such a socket or directory instead: the socket is
	// there, but nobody listens.
	DeadSockets bool
	// EmptyBinds binds an empty directory or file of the engine's own instead, as
	// Colima does for what its machine does not share.
	EmptyBinds bool
	// OtherInodes binds a copy instead, made when the container is created. What
	// changes on either side afterwards is not seen on the other one.
	OtherInodes bool
	// Unshared says for which sources EmptyBinds and OtherInodes hold; nil: for all.
	Unshared func(source string) bool

	Kernel       string // the kernel's version that the engine tells; empty: the real one
	OS           string // the name of its system, such as "Docker Desktop"; empty: the real one
	Architecture string // of its machine, such as "aarch64"; empty: the real one
	Rootless     bool   // it says that an ordinary user runs it

	// Strip lists what the engine forgets of what was ordered for a container: Network
	// and the other constants.
	Strip []string

	Delay          time.Duration // of the line, there and back
	BytesPerSecond int           // in each direction, of all connections together; 0: no limit
	Stall          bool          // the line carries nothing, and says nothing
	Idle           time.Duration // connections are dropped when idle for so long; 0: never
	Down           bool          // new connections are closed at once

	// Cut returns after which time the next stream is cut; nil, or 0 from it: never. It
	// is called from any goroutine.
	Cut         func() time.Duration
	Truncate    bool // what a program writes just before a stream's end is lost
	KeepOpen    bool // streams stay open after their program's end
	NoHalfClose bool // the end of the client's input is not passed on
	NoUpgrade   bool // streams begin with 200 instead of 101
	// Fail says which requests are answered with 500; nil: none. It is called from any
	// goroutine.
	Fail func(*http.Request) bool
}

// What Strip can name. The first six are isolation, the others are limits.
const (
	Network       = "network"    // there are other interfaces than lo
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

// unknown returns a name in Strip that means nothing, or an empty string.
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
