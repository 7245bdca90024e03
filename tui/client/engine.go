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
	Name    string // as the person has written it; empty: none is named
	Address string // where that is
}

// check returns an error if a daemon uses another engine than the one that the person has named.
// A daemon keeps its engine: its agents are there.
func (e Engine) check(daemon wire.Engine) error {
	if e.Name == "" || sameAddress(e.Address, daemon.Address) {
		return nil
	}
	named := e.Name
	if named != e.Address && "unix://"+named != e.Address {
		named += " (" + e.Address + ")"
	}
	uses := "does not say which container engine it uses"
	if daemon.Address != "" {
		uses = "uses the container engine at " + daemon.Address + " (from " + cmp.Or(daemon.Source, "its environment") + ")"
	}
	return fault.New("leave --engine out to use that one; or end the daemon with 'ironcurtain-mux stop', or set IRONCURTAIN_HOME to another directory for a second one",
		"the daemon that runs %s, not %s", uses, named)
}

// sameAddress reports whether two addresses are the same, or two paths of one socket.
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
