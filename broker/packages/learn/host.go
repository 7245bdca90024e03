package learn

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Host is the machine whose tools are asked.
type Host struct {
	Env  []string // the person's environment, as NAME=value
	Home string   // the person's home
	// Dir is a directory in which nobody else can write. The tools run in empty directories
	// below it.
	Dir string
	// Dialer connects to registries; the zero value uses the network.
	Dialer netguard.Dialer
	// Offline means that no registry is examined, so that artifacts' bases and private addresses
	// stay unknown.
	Offline bool
	// Apt returns lines of a sources.list for the agents' images. If it is nil, there are none.
	Apt func(context.Context) []string
	// System is the directory that contains the system's /etc; "" means the root.
	System string
}
