package client

import (
	"cmp"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Engine is a container engine that a person has named.
type Engine struct {
	Name    string // as the person has written it; empty: no engine is named
	Address string // of that engine
}

// check returns an error if a daemon uses another engine than the one that the person has named. A
// daemon cannot change its engine, because its agents run there.
func (e Engine) check(daemon wire.Engine) error {
	if e.Name == "" || sameAddress(e.Address, daemon.Address) {
		return nil
	}
	named := e.Name
	if named != e.Address && "unix://"+named != e.Address {
		named += " (" + e.Address + ")"
	}
	const next = "leave out --engine to use the daemon's; or end the daemon with 'ironcurtain-mux stop', or set IRONCURTAIN_HOME to another directory for a second daemon"
	if daemon.Address == "" {
		return fault.New(next, "the running daemon does not report its container engine, which may not be %s", named)
	}
	return fault.New(next, "the running daemon uses the container engine at %s (from %s), not %s", daemon.Address, cmp.Or(daemon.Source, "its environment"), named)
}

// sameAddress reports whether two addresses are equal, or are two paths of one socket.
func sameAddress(a, b string) bool {
	if a == b {
		return true
	}
	pathA, unixA := strings.CutPrefix(a, "unix://")
	pathB, unixB := strings.CutPrefix(b, "unix://")
	if !unixA || !unixB {
		return false
	}
	infoA, errA := os.Stat(pathA)
	infoB, errB := os.Stat(pathB)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
