// Package ssh is the way to a machine by the system's ssh: one process that forwards a socket, or
// one for each connection.
//
// Parse reads an address, and refuses what ssh or a shell could take for anything but a name.
// New makes a Tunnel to it, which starts nothing by itself: the first Dial starts an ssh that
// forwards a socket in a private directory to the one of a container engine there, and all
// connections are made through that. When it ends, the next Dial starts another one. Whether the
// machine forwards sockets shows only when somebody connects, so the caller finds out, and calls
// FallBack: from then on each connection has an ssh of its own, which runs docker's program for
// that there.
//
// It is the person's ssh, with its configuration, agent and known machines, but no agent, display
// or ticket is forwarded and no master is shared. What it says last becomes the reason of an Error,
// with a kind and what to do next. Every ssh ends with the Tunnel, and with this process, however
// that ends.
package ssh
