// Package link keeps two byte streams between the host and the bridge in a container alive while
// the connections that carry them break and are replaced.
//
// A container without the host's sockets is reached through a command that the engine executes in
// it. The command's input and output are a carrier. It breaks when a laptop sleeps, when the engine
// restarts, or when the engine closes it as idle. A link outlives its carriers: each end keeps what
// it has sent until the other one has acknowledged it. On a new carrier both ends first send a
// hello, which says how many bytes of each lane they have received, and continue from there. So no
// byte is lost or duplicated.
//
// A link has two lanes, which take turns frame by frame: "typed", for the agent's terminal, and
// "bulk", for everything else. How many bytes of bulk may be in flight depends on the round trip
// (flight), so that a key does not wait behind an upload. A receiver says how many bytes of a lane
// are unread, and the sender stops at the window: a lane that nobody reads does not stop the other.
//
// The other end may be hostile. Every frame is checked. An impossible offset ends the carrier, and
// three within a minute end the link. The windows of the lanes bound the memory: less than 10 MiB
// at each end.
//
// A link ends by a frame and never by the end of a carrier, because engines cut streams, leave them
// open, and do not close one direction of them.
package link
