// Package reach connects the host with a container into which no sockets of the host lead: one
// in a virtual machine, behind a user namespace or on another machine. Which engines have such
// containers is found by trying, and remembered (Ways).
//
// All that the host has there is what every engine offers: executing a program in the
// container, whose input and output are one stream of bytes. Such a stream is a carrier. It
// breaks when the machine sleeps, a network goes away or the engine restarts; so a link
// (package link) runs over it, which loses nothing and goes on over the next carrier. On the
// link there are two lanes: what a person types and sees, and everything else, as one stream
// for each connection that the agent makes (package mux). A Stream is the host's end of all that:
// the agent's terminal, and a Listener for each kind of connection. The container's end is the
// bridge's command keep.
//
// Where the engine does not see this machine's files, they are copied (Files), over connections that
// the host makes (OpenFiles): an order's Fill does so before the agent begins. The container stays
// after the agent's end, which Read tells, until such connections are closed; so whoever copies
// keeps one open until all that the agent has left is here.
//
// Before anything of the agent runs, the bridge says what it sees of its confinement, and the
// host compares (package seen). Only then it says go. Over mounted sockets Approve does the same.
//
// The link tells the host nothing about who speaks: everything in the container can write to
// a carrier or end it, as it can dial mounted sockets. The session is the container into which
// the host has executed, never what the stream says.
package reach
