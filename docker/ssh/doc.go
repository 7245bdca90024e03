// Package ssh connects to a container engine's socket on another machine by the system's ssh: one
// ssh process forwards the socket for all connections, or each connection has a process of its own.
//
// Parse reads an address, and refuses names that could mean something else to ssh or a shell. New
// makes a Tunnel and starts no process: the first Dial starts an ssh that forwards a socket in a
// private directory to the engine's, and all connections go through it. When that ssh has ended,
// the next Dial starts another one. Only a connection shows whether the machine allows forwarding.
// If not, the caller calls FallBack: from then on each connection has an ssh of its own, which runs
// "docker system dial-stdio" on the machine.
//
// It is the person's ssh, with their configuration, agent and known hosts, but it forwards no agent,
// display or ticket and shares no connection. The last lines that it prints become the cause of an
// Error, with a kind and a hint. Every ssh ends with the Tunnel, and with this process, however
// that ends.
package ssh
