// Package link keeps two byte streams between the host and a container's program alive
// while the connections that carry them come and go.
//
// A container without a socket of the host's is reached through a command that the engine
// runs in it. What such a command reads and writes is a carrier: it is cut when a laptop
// sleeps, when the engine is restarted, or when an engine thinks it has been idle for too
// long. A link outlives its carriers. Each end keeps what it has sent until the other has
// said that it came. A new carrier begins with a hello of both ends, which says how many
// bytes of each lane they have; each side goes on from there. So no byte is lost, and none
// comes twice.
//
// A link has two lanes, which take turns frame by frame: "typed", for what a person types
// and sees, and "bulk", for everything else. How much of bulk is on its way at once follows
// the round trip (flight), so that a key does not wait in a queue that an upload has filled.
// A receiver says how much of a lane nobody has read, and the sender stops in time:
// a lane that nobody reads does not stop the other one.
//
// The other end may be hostile. Every frame is checked; an offset that cannot be ends the
// carrier, and three such in a minute end the link. Memory is bounded by the windows of the
// lanes: less than 10 MiB at each end.
//
// The end of a link is a frame and never the end of a carrier, because engines cut streams,
// leave them open, and do not close one direction of them.
package link
