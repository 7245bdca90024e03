// Package reach connects the host with a container that cannot use sockets of the host: one in a
// virtual machine, behind a user namespace or on another machine. Which engines have such containers
// is found out by trying, and remembered (Ways).
//
// The host uses only what every engine offers: executing a program in the container, whose input
// and output are one stream of bytes. Such a stream is a carrier. It breaks when the machine sleeps,
// a network fails or the engine restarts. So a link (package link) runs over carriers; it loses
// nothing and continues on the next one. The link has two lanes: one for the agent's terminal, and
// one for everything else, with a stream for each connection that the agent makes (package mux). A
// Stream is the host's end of all that: the agent's terminal, and a Listener for each kind of
// connection. The container's end is the bridge's command keep.
//
// Where the engine does not see this machine's files, they are copied (Files), over connections that
// the host opens (OpenFiles); an order's Fill does so before the agent starts. After the agent's end
// (Read returns io.EOF) the container stays until such connections are closed, so whoever copies
// keeps one open until it has fetched what the agent left.
//
// Before anything of the agent runs, the bridge reports what it sees of its confinement, and the host
// compares that with what was ordered (package seen). Only then the host sends go. Over mounted
// sockets Approve does the same.
//
// The link does not authenticate anybody: every program in the container can write to a carrier or
// end it, as it can dial mounted sockets. The host knows the session by the container in which it has
// executed the carrier, never by what the stream says.
package reach
