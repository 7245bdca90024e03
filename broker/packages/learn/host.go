package learn

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Host is the machine whose tools are asked.
type Host struct {
	Env  []string // the person's environment, as NAME=value
	Home string   // the person's home
	// Dir is an existing directory in which nobody else can write. The tools run in an
	// empty one below it, because most of them look for configuration in the directories
	// above as well.
	Dir string
	// Dialer connects to registries; the zero value uses the network.
	Dialer netguard.Dialer
	// Offline means that no registry is asked for a document, so no base of artifacts and
	// no private address is found out.
	Offline bool
	// Apt returns lines of a sources.list for the agents' images; nil: there are none.
	Apt func(context.Context) []string
	// System is the directory below which the system's configuration is; empty is the root.
	System string
}
